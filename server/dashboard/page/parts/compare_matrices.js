/** Confusion matrices of trials side by side: one part, one way to read the cells, for all of them. */

import {get} from '../api.js';
import {matrix} from '../charts/matrix.js';
import {SHOWN, modelOf, orderOf} from '../charts/matrix_model.js';
import {h, replace} from '../dom.js';
import {percent} from '../format.js';
import {sampleWord} from './data_kind.js';
import {failure} from './failure.js';
import {choice} from './field.js';

const PARTS = [['validation', 'Validation'], ['test', 'Test'], ['train', 'Training']];

function card({trial, model, error}, shown) {
  const address = `#/trials/${trial.id}?tab=confusion`;
  const body = error ? failure(error) : matrix(model, {
    shown, word: sampleWord(trial.resolved.kind), places: orderOf(model, 'data'), chosen: null,
    onPick: (t, p) => { location.hash = `${address}&true=${encodeURIComponent(model.classes[t])}&predicted=${encodeURIComponent(model.classes[p])}`; },
  });
  return h('section', {class: 'card', 'data-test': 'compare-matrix'},
    h('h3', {}, h('a', {href: address}, `Trial ${trial.index}`), model ? h('span', {class: 'muted'}, ` ${percent(model.accuracy)} right`) : null), body);
}

/** A matrix that is not there says why; the others are shown. */
async function read(trial, part, signal) {
  try {
    return {trial, model: modelOf(await get(`/v1/trials/${trial.id}/confusion-matrix?part=${part}&form=sparse`, {signal}))};
  } catch (error) {
    return {trial, error};
  }
}

/**
 * @param {Object[]} trials evaluated as classifications
 * @param {{signal}} scope
 * @returns {HTMLElement}
 */
export function compareMatrices(trials, {signal}) {
  const part = choice(PARTS, {'aria-label': 'Part', 'data-test': 'compare-part'});
  const shown = choice(SHOWN, {'aria-label': 'Cells show', 'data-test': 'compare-show', value: 'recall'});
  const grid = h('div', {class: 'compare-matrices'});
  let rows = [];
  const draw = () => replace(grid, rows.map((row) => card(row, shown.value)));
  const fill = async () => {
    const asked = part.value;
    const found = await Promise.all(trials.map((trial) => read(trial, asked, signal)));
    if (!signal.aborted && part.value === asked) {
      rows = found;
      draw();
    }
  };
  part.addEventListener('change', fill);
  shown.addEventListener('change', draw);
  fill();
  return h('section', {class: 'stack'}, h('div', {class: 'row'}, h('h2', {}, 'Confusion'), part, shown), grid);
}
