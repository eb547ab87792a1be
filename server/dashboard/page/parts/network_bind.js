/** What an analysis takes its sizes from: a data set, or numbers. */

import {h, replace} from '../dom.js';
import {dataOfNetwork} from './data_kind.js';
import {choice, field} from './field.js';

function whole(name, value, label, onInput) {
  return field(label, h('input', {type: 'number', min: 1, step: 1, name, value, 'data-test': `bind-${name}`, on: {input: onInput}}));
}

/** What is asked for when no data set is chosen: the size that the description wants, else something small. */
function sizesOf(template) {
  const {parameters, description} = template;
  const data = dataOfNetwork(template);
  if (data === 'sequences') {
    const last = description.layers?.at(-1);
    const isClassifier = last?.kind === 'softmax' && !('if' in last);
    return {features: ['Inputs', 10], longest: ['Longest', 100], ...(isClassifier ? {classes: ['Classes', 2]} : {targets: ['Targets', 1]})};
  }
  if (data === 'signals') {
    return {height: ['Height', 1], width: ['Width', 1024], channels: ['Channels', 1], classes: ['Classes', 10]};
  }
  const size = parameters.find(({name}) => name === 'size')?.default;
  return {height: ['Height', size || 28], width: ['Width', size || 28], channels: ['Channels', size ? 3 : 1], classes: ['Classes', size ? 1000 : 10]};
}

/** The numbers alone. */
function valuesOf(names) {
  return Object.fromEntries(Object.entries(names).map(([name, [, value]]) => [name, value]));
}

/** The body's words for the numbers. */
function given({classes, ...sizes}) {
  return {['features' in sizes ? 'sequence' : 'input']: sizes, classes};
}

/** @returns {Object} of a body of an analysis the sizes that a network is looked at in when nobody gives any */
export function usualSizes(template) {
  return given(valuesOf(sizesOf(template)));
}

/**
 * @param {{takes: string, parameters: Object[], description: Object}} template
 * @param {Object[]} datasets that are ready and fit
 * @param {?string} chosen id of a data set; one that does not fit is as none
 * @param {function()} onChange
 * @returns {HTMLElement} with `body()`: what of the request's body it decides; `chosen()`: the id of a data set or null
 */
export function networkBind(template, datasets, chosen, onChange) {
  const names = sizesOf(template);
  const sizes = valuesOf(names);
  let batch = 128;
  const place = h('div', {class: 'form-grid narrow'});
  const set = choice([['', 'sizes given here'], ...datasets.map(({id, name}) => [id, name])], {
    name: 'dataset', 'data-test': 'bind-dataset', value: datasets.some(({id}) => id === chosen) ? chosen : '', on: {change: () => { show(); onChange(); }},
  });
  const input = (name) => whole(name, sizes[name], names[name][0], (event) => {
    sizes[name] = event.target.valueAsNumber;
    onChange();
  });
  const batchInput = () => whole('batch', batch, 'Batch size', (event) => {
    batch = event.target.valueAsNumber;
    onChange();
  });
  const show = () => replace(place, set.value ? null : Object.keys(sizes).map(input), batchInput());
  show();
  const element = h('div', {class: 'stack'}, field('Sizes of', set), place);
  const body = () => ({...(set.value ? {dataset: set.value} : given(sizes)), batch_size: batch});
  return Object.assign(element, {body, chosen: () => set.value || null});
}
