/** What an analysis takes its sizes from: a data set, or a picture's size and a number of classes. */

import {h, replace} from '../dom.js';
import {choice, field} from './field.js';

function whole(name, value, label, onInput) {
  return field(label, h('input', {type: 'number', min: 1, step: 1, name, value, 'data-test': `bind-${name}`, on: {input: onInput}}));
}

/** The size that the description asks for, else a small picture. */
function guess(template) {
  const size = template.parameters.find(({name}) => name === 'size')?.default;
  return size ? {height: size, width: size, channels: 3, classes: 1000} : {height: 28, width: 28, channels: 1, classes: 10};
}

/**
 * @param {{parameters: Object[], input: string}} template
 * @param {Object[]} datasets that are ready and fit
 * @param {?string} chosen id of a data set
 * @param {function()} onChange
 * @returns {HTMLElement} with `body()`: what of the request's body it decides; `chosen()`: the id of a data set or null
 */
export function networkBind(template, datasets, chosen, onChange) {
  const isImages = template.input === 'image_input';
  const sizes = {...guess(template), batch: 128};
  const given = h('div', {class: 'form-grid narrow'});
  const none = isImages ? 'sizes given here' : 'none: sizes are not known';
  const set = choice([['', none], ...datasets.map(({id, name}) => [id, name])], {
    name: 'dataset', 'data-test': 'bind-dataset', value: chosen ?? '', on: {change: () => { show(); onChange(); }},
  });
  const input = (name, label) => whole(name, sizes[name], label, (event) => {
    sizes[name] = event.target.valueAsNumber;
    onChange();
  });
  const show = () => replace(given, set.value || !isImages ? null
    : [input('height', 'Height'), input('width', 'Width'), input('channels', 'Channels'), input('classes', 'Classes')],
  input('batch', 'Batch size'));
  show();
  const element = h('div', {class: 'stack'}, field('Sizes of', set), given);
  const numbers = () => {
    const {height, width, channels, classes} = sizes;
    return isImages ? {input: {height, width, channels}, classes} : {};
  };
  const body = () => ({...(set.value ? {dataset: set.value} : numbers()), batch_size: sizes.batch});
  return Object.assign(element, {body, chosen: () => set.value || null});
}
