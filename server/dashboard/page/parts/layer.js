/** What a layer of a network is called, and what its output means. */

import {count} from '../format.js';

const FAMILIES = [
  [/input/, 'input'], [/conv/, 'convolution'], [/lstm|gru|recurrent/, 'recurrent'], [/fully_connected|linear/, 'connected'],
  [/norm/, 'norm'], [/pool/, 'pool'], [/drop/, 'drop'], [/concat|addition|multipl/, 'join'],
  [/relu|elu|sigmoid|tanh|softmax|swish|threshold|shrink/, 'activation'],
];

/** @returns {string} a word for the colour of a kind of layer; kinds that are not known are "other" */
export function familyOf(kind) {
  return FAMILIES.find(([pattern]) => pattern.test(kind ?? ''))?.[1] ?? 'other';
}

/** @returns {string} e.g. "55 × 55 × 64"; "" when the size is not known */
export function activationText({activation, format}) {
  const text = (activation ?? []).map(count).join(' × ');
  return format === 'CT' && text ? `${text} a step` : text;
}

/** @returns {string} what the numbers of an output mean */
export function activationMeaning({format}) {
  return {SSC: 'height × width × channels', C: 'channels', CT: 'channels, at each step'}[format] ?? '';
}

/** @returns {string} e.g. "weight 64 × 3 × 3 × 3, bias 64" */
export function parametersText(parameters) {
  return Object.entries(parameters ?? {}).map(([name, shape]) => `${name} ${shape.join(' × ')}`).join(', ');
}
