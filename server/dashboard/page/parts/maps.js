import {h, replace} from '../dom.js';
import {failure} from './failure.js';
import {coverSlider, heat} from './heat.js';

function mapWords({class: name, predicted, true: truth}) {
  return name === truth && name !== predicted ? `speaks for ${name}, which it is` : `speaks for ${name}`;
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
    const words = mapWords(row);
    const {element, cover} = heat(make(), row.path, {signal, onError, label: `Grad-CAM: what ${words}`});
    box.append(h('figure', {}, element, h('figcaption', {class: 'small'}, words)));
    return cover;
  });
  return h('div', {class: 'stack'}, box, coverSlider((share) => covers.forEach((cover) => cover(share))));
}
