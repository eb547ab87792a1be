import {h, replace} from '../dom.js';
import {failure} from './failure.js';
import {coverSlider, heat, heatLegend} from './heat.js';

function mapWords({class: name, predicted, true: truth}) {
  return name === truth && name !== predicted ? `${name}, which it is` : name;
}

/**
 * Maps side by side, each over a copy of the picture, with one slider for all.
 * @param {Object[]} rows explanations, each with the `path` of its array
 * @param {function(): HTMLElement} make a new copy of the picture
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function mapsOf(rows, make, signal) {
  const box = h('div', {class: 'maps', 'data-test': 'maps'});
  const onError = (error) => replace(box, failure(error));
  const covers = rows.map((row) => {
    const words = `speaks for ${mapWords(row)}`;
    const caption = h('figcaption', {class: 'small'}, words);
    const onEmpty = () => replace(caption, `Nothing in the picture speaks for ${mapWords(row)}.`);
    const {element, cover} = heat(make(), row.path, {signal, onEmpty, onError, label: `Grad-CAM: what ${words}`});
    box.append(h('figure', {}, element, caption));
    return cover;
  });
  return h('div', {class: 'stack'}, box, coverSlider((share) => covers.forEach((cover) => cover(share))), heatLegend());
}
