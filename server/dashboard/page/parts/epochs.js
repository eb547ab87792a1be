import {h} from '../dom.js';
import {plural} from '../format.js';
import {ask} from './ask.js';
import {field} from './field.js';

const TEXT = 'It goes on from its last checkpoint. Curves go on; figures, network and explanations of now stay until those of the new end replace them.';

/**
 * How long something is to be trained in all, asked in a box of its own.
 * @param {string} what it is: "trial 3"
 * @param {number} [had] epochs that it was given so far; unknown where trials differ
 * @param {boolean} [open] it was stopped on the way: as many may be what is wanted
 * @returns {Promise<?{epochs: number}>} null: not at all
 */
export async function askEpochs(what, had = undefined, open = false) {
  const least = had === undefined ? 1 : had + (open ? 0 : 1);
  const input = h('input', {type: 'number', min: String(least), max: '1000000', step: '1', required: true, 'data-test': 'epochs'});
  input.value = String(open ? least : Math.min(2 * (had ?? 15), 1000000));
  const hint = had === undefined ? 'Those of before count too.' : `Those of before count too: ${plural(had, 'epoch')} so far.`;
  const meant = await ask({title: `Extend ${what}?`, text: TEXT, verb: 'Extend', field: field('Epochs in all', input, hint)});
  return meant ? {epochs: input.valueAsNumber} : null;
}
