import {h} from '../dom.js';
import {ask} from './ask.js';
import {field} from './field.js';

const TEXT = 'Another trial, in a job of its own, begins with the weights of the last checkpoint of this one and trains as you say; its steps count from 1.';

/**
 * How a trial that begins with another's weights is trained, asked in a box of its own.
 * @param {Object} trial
 * @returns {Promise<?Object>} the body of the request; null: not at all
 */
export async function askFork(trial) {
  const {epochs, learning_rate: rate} = trial.resolved.training;
  const long = h('input', {type: 'number', min: '1', max: '1000000', step: '1', required: true, value: String(epochs), 'data-test': 'fork-epochs'});
  const fast = h('input', {type: 'number', min: '0', step: 'any', required: true, value: String(rate), 'data-test': 'fork-rate'});
  const fields = h('div', {class: 'form-grid'}, field('Epochs', long), field('Learning rate', fast));
  const meant = await ask({title: `Fork trial ${trial.index}?`, text: TEXT, verb: 'Fork', field: fields});
  return meant ? {training: {epochs: long.valueAsNumber, learning_rate: fast.valueAsNumber}} : null;
}
