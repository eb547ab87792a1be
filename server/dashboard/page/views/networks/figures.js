/** What networks of the catalogue cost in sizes that they are made for: counted by the service, once a visit of the page. */

import {get, inquire} from '../../api.js';
import {plural} from '../../format.js';
import {usualSizes} from '../../parts/network_bind.js';

const counted = new Map(); // by name

function sizesText({input, sequence, classes}) {
  const out = classes ? plural(classes, 'class', 'classes') : plural(sequence.targets, 'target');
  return `${input ? [input.height, input.width, input.channels].join(' × ') : plural(sequence.features, 'input')}, ${out}`;
}

/**
 * @param {Object} row of the catalogue
 * @param {AbortSignal} signal
 * @returns {Promise<{learnables: number, multiplyAdds: number, sizes: string}>}
 */
export async function figuresOf(row, signal) {
  const {name, takes} = row;
  if (!counted.has(name)) { // only the description says whether a network of sequences classifies
    const sizes = usualSizes(takes === 'sequence' ? await get(`/v1/networks/${encodeURIComponent(name)}`, {signal}) : row);
    const {totals} = await inquire('/v1/networks/analyze', {network: {name}, ...sizes, batch_size: 1}, {signal});
    counted.set(name, {learnables: totals.learnables, multiplyAdds: totals.multiply_adds, sizes: sizesText(sizes)});
  }
  return counted.get(name);
}
