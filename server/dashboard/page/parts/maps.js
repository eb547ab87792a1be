import {h, replace} from '../dom.js';
import {failure} from './failure.js';
import {coverSlider, heat, heatLegend} from './heat.js';

/** Methods that make maps: their names for people, and what they do. */
export const MAP_METHODS = {
  grad_cam: {label: 'Grad-CAM', text: 'What the last layer with height and width sees, weighed by how much the score depends on it.'},
  occlusion: {label: 'Occlusion', text: 'How far the score falls where a mask hides a place.'},
  lime: {label: 'LIME', text: 'What each cell of a grid is worth, by a linear model of what the network says with some of them hidden at random.'},
};

function mapWords({class: name, predicted, true: truth}) {
  return name === truth && name !== predicted ? `${name}, which it is` : name;
}

/**
 * Maps side by side, each over a copy of the sample, with one slider for all.
 * @param {Object[]} rows explanations, each with the `path` of its array
 * @param {function(): HTMLElement} make a new copy of the sample
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function mapsOf(rows, make, signal) {
  const box = h('div', {class: 'maps', 'data-test': 'maps'});
  const onError = (error) => replace(box, failure(error));
  const covers = rows.map((row) => {
    const words = `speaks for ${mapWords(row)}`;
    const caption = h('figcaption', {class: 'small'}, words);
    const onEmpty = () => replace(caption, `Nothing here speaks for ${mapWords(row)}.`);
    const {element, cover} = heat(make(), row.path, {signal, onEmpty, onError, label: `${MAP_METHODS[row.method].label}: what ${words}`});
    box.append(h('figure', {}, element, caption));
    return cover;
  });
  return h('div', {class: 'stack'}, box, coverSlider((share) => covers.forEach((cover) => cover(share))), heatLegend());
}
