import {h} from '../dom.js';
import {count, percent} from '../format.js';
import {valueStrength} from './matrix_model.js';
import {SHARES, ramp} from './ramp.js';

/** The strongest colour's value. */
function highest({largest, total}, shown) {
  return {counts: () => count(largest), total: () => percent(total > 0 ? largest / total : 0)}[shown]?.() ?? '100 %';
}

/**
 * What the colours of a matrix stand for.
 * @param {Object} model
 * @param {string} shown what the cells show
 * @param {function(string, number): string} colourOf the colour in CSS of a series at a strength
 */
export function matrixLegend(model, shown, colourOf) {
  const low = shown === 'counts' ? '0' : '0 %';
  const row = (words, series) => ramp(words, low, highest(model, shown), SHARES.map((share) => colourOf(`var(${series})`, valueStrength(share))));
  return h('div', {class: 'ramps', 'data-test': 'matrix-legend'}, row('Found', '--series-1'), row('Mistaken', '--series-2'));
}
