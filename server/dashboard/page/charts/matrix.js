import {h} from '../dom.js';
import {count, percent} from '../format.js';
import {matrixCanvas} from './matrix_canvas.js';
import {cellValue} from './matrix_model.js';
import {matrixTable} from './matrix_table.js';

/** Up to here a matrix is a table, whose cells have room for a number. */
const TABLE_MOST = 30;

/** @returns {string} a cell's value as it is written into it; "" for nothing */
export function cellText(model, shown, t, p) {
  if (model.at(t, p) === 0) {
    return '';
  }
  const value = cellValue(model, shown, t, p);
  return shown === 'counts' ? count(value) : (value * 100).toFixed(value < 0.0995 ? 1 : 0);
}

/** @returns {string} a cell in words, for a tooltip and for readers of screens */
export function cellWords(model, t, p) {
  const k = model.at(t, p);
  const what = t === p ? `${model.classes[t]}, found` : `${model.classes[t]} taken for ${model.classes[p]}`;
  const shares = k === 0 ? '' : `, ${percent(cellValue(model, 'recall', t, p))} of the class, ${percent(cellValue(model, 'precision', t, p))} of what was predicted so`;
  return `${what}: ${count(k)}${shares}`;
}

/**
 * A confusion matrix: a table for few classes, else drawn on a canvas that scrolls and zooms.
 * @param {Object} model as modelOf makes it
 * @param {{shown: string, places: number[], chosen: ?number[], word: string, onPick: function(number, number)}} options
 *   places: the classes in their order; word: what one sample is called; onPick: a cell was clicked, or chosen by Enter
 * @returns {HTMLElement}
 */
export function matrix(model, options) {
  if (options.places.length === 0) {
    return h('p', {class: 'empty'}, 'No class has such a name.');
  }
  return options.places.length <= TABLE_MOST ? matrixTable(model, options) : matrixCanvas(model, options);
}
