/** What a layer of a network is called, and what its output means. */

import {count} from '../format.js';

/** The colours of drawings, each with its kinds of layers: every one of core/layers, which make lint compares. */
const FAMILIES = {
  input: 'image_input sequence_input',
  convolution: 'convolution transposed_convolution temporal_convolution',
  recurrent: 'lstm gru',
  attention: 'attention positional_encoding',
  connected: 'fully_connected embedding',
  norm: 'batch_norm group_norm layer_norm local_response_norm rms_norm',
  activation: 'relu clipped_relu leaky_relu elu gelu silu hard_swish tanh sigmoid absolute soft_threshold softmax',
  pool: 'max_pool average_pool adaptive_average_pool global_average_pool channel_mean sequence_pool',
  join: 'addition multiplication concatenation',
  shape: 'flatten channel_padding spatial_padding cropping',
  drop: 'dropout',
  loss: 'auxiliary_loss',
};
const FAMILY_OF = new Map(Object.entries(FAMILIES).flatMap(([family, kinds]) => kinds.split(' ').map((kind) => [kind, family])));

/** @returns {string} a word for the colour of a kind of layer; kinds that are not known are "other" */
export function familyOf(kind) {
  return FAMILY_OF.get(kind) ?? 'other';
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
