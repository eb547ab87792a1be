import {h, replace, set} from '../../dom.js';
import {dataOf} from '../../parts/data_kind.js';
import {choice} from '../../parts/field.js';
import {MAP_METHODS} from '../../parts/maps.js';

/** What somebody chose; stays from sample to sample, but for the class. Empty: the usual. */
const chosen = {method: 'grad_cam', mask_size: '', stride: '', segmentation: '', segments: '', class: ''};

const isGiven = (name) => chosen[name] !== '';

/** Whole numbers are sent as such; what is none is left to the service to refuse. */
function given(...names) {
  const pairs = names.filter(isGiven).map((name) => [name, Number.isFinite(Number(chosen[name])) ? Number(chosen[name]) : chosen[name]]);
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

/**
 * @returns {{method: string, class?: string, occlusion?: Object, lime?: Object}} fields of a question, as chosen
 */
export function chosenMethod() {
  const {method} = chosen;
  const options = method === 'occlusion' ? given('mask_size', 'stride') : method === 'lime' ? given('segmentation', 'segments') : undefined;
  return {method, ...(options && {[method]: options}), ...(isGiven('class') && {class: chosen.class})};
}

function numberField(name, text, usual, onChange) {
  const input = h('input', {type: 'number', min: 1, step: 1, placeholder: usual, inputmode: 'numeric', 'data-test': name, on: {change: () => { chosen[name] = input.value; onChange(); }}});
  input.value = chosen[name];
  return h('label', {class: 'plain'}, text, input);
}

function segmentationField(onChange) {
  const select = choice([['', 'a grid'], ['superpixels', 'superpixels']], {'data-test': 'segmentation', on: {change: () => { chosen.segmentation = select.value; onChange(); }}});
  select.value = chosen.segmentation;
  return h('label', {class: 'plain'}, 'Cut by', select);
}

/** What a method can be told. */
function fields(kind, onChange) {
  if (chosen.method === 'occlusion') {
    return [numberField('mask_size', 'Mask', dataOf(kind) === 'signals' ? 'a twentieth' : 'a fifth', onChange), numberField('stride', 'Stride', 'half of it', onChange)];
  }
  if (chosen.method === 'lime') {
    return [dataOf(kind) === 'signals' ? null : segmentationField(onChange), numberField('segments', 'Segments', '49', onChange)];
  }
  return [];
}

/** Classes become known with the first answer. */
function classField(onChange) {
  const select = choice([['', 'predicted and true']], {'data-test': 'map-class', on: {change: () => { chosen.class = select.value; onChange(); }}});
  const offer = (names) => {
    if (select.options.length === 1) {
      select.append(...names.map((name) => h('option', {value: name}, name)));
    }
  };
  return {element: h('label', {class: 'plain'}, 'For', select), offer};
}

/**
 * The methods to choose from, with what the chosen one does and can be told.
 * @param {string} kind of the job
 * @param {function()} onChange another question is to be asked
 * @returns {{element: HTMLElement, offer: function(string[])}} offer: classes that a map can speak for
 */
export function methodChoice(kind, onChange) {
  chosen.class = ''; // another trial has others
  if (dataOf(kind) === 'signals') {
    chosen.segmentation = '';
  }
  const text = h('p', {class: 'small muted'});
  const own = h('span', {class: 'row'});
  const classes = classField(onChange);
  const select = choice(Object.entries(MAP_METHODS).map(([name, {label}]) => [name, label]), {'aria-label': 'Method', 'data-test': 'method'});
  const draw = () => {
    replace(text, MAP_METHODS[chosen.method].text);
    replace(own, fields(kind, onChange));
  };
  set(select, {on: {change: () => { chosen.method = select.value; draw(); onChange(); }}});
  select.value = chosen.method;
  draw();
  return {element: h('div', {class: 'stack'}, h('div', {class: 'row method'}, select, own, classes.element), text), offer: classes.offer};
}
