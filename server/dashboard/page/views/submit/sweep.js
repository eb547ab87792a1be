import {h, replace} from '../../dom.js';
import {schemaForm} from '../../parts/schema_form.js';
import {listText, parsed, parsedList, pointerOf} from '../../parts/spec.js';

const LIST = 'sweep-paths';

const NUMBER = '(-?[\\d.]+(?:e[+-]?\\d+)?)';
const RANGE = new RegExp(`^${NUMBER} to ${NUMBER}( log)?( integer)?$`, 'i');

/** A range as people write it, "0.001 to 0.1 log"; null: it is something else. */
function rangeOf(text) {
  const found = RANGE.exec(text.replaceAll(/\s+/g, ' '));
  return found && {min: Number(found[1]), max: Number(found[2]), ...(found[3] && {scale: 'log'}), ...(found[4] && {integer: true})};
}

function rangeText({min, max, scale, integer}) {
  return `${min} to ${max}${scale === 'log' ? ' log' : ''}${integer ? ' integer' : ''}`;
}

/** Values to try, or a range; anything else stands as it is. */
const isRange = (values) => Object.keys(values).every((key) => ['min', 'max', 'scale', 'integer'].includes(key)) && 'min' in values && 'max' in values;
const textOf = (values) => (Array.isArray(values) ? listText(values) : isRange(values) ? rangeText(values) : JSON.stringify(values));
const valuesOf = (text) => rangeOf(text) ?? (text.startsWith('{') ? parsed(text) : parsedList(text));

/** One swept field: its path and the values to try. */
function row(path, values, onChange, onRemove) {
  const name = h('input', {value: path, list: LIST, placeholder: 'training.learning_rate', 'aria-label': 'Field', 'data-test': 'sweep-path', autocomplete: 'off', on: {input: onChange}});
  const list = h('input', {value: textOf(values), placeholder: '0.1, 0.01 or 0.001 to 0.1 log', 'aria-label': 'Values', 'data-test': 'sweep-values', autocomplete: 'off', on: {input: onChange}});
  const element = h('div', {class: 'sweep-row field', 'data-pointer': path ? pointerOf(['search', 'parameters', path]) : null}, name, list,
    h('button', {type: 'button', class: 'small', 'aria-label': `Leave out ${path || 'this field'}`, 'data-test': 'sweep-remove', on: {click: () => { element.remove(); onRemove(); }}}, '×'));
  return Object.assign(element, {read: () => [name.value.trim(), list.value.trim()]});
}

/** What the kind sweeps over when the job does not say. */
function ownSweep(resolved, onCopy) {
  const found = Object.entries(resolved?.search?.parameters ?? {});
  return found.length === 0 ? 'Nothing is swept: one trial for each seed.' : ['By default: ',
    found.map(([path, values], i) => [i ? '; ' : '', h('code', {}, path), ` over ${textOf(values)}`]), '. ',
    h('button', {type: 'button', class: 'link', 'data-test': 'sweep-copy', on: {click: onCopy}}, 'Change')];
}

/** What else a search says, e.g. its strategy. */
function searchForm({properties}, edit) {
  const others = Object.entries(properties).filter(([name]) => name !== 'parameters');
  return schemaForm({properties: Object.fromEntries(others)}, ['search'], edit);
}

/**
 * The sweep: dotted paths into the job, each with a list of values or a range.
 * @param {Object} schema of `search`
 * @param {function(string[], *)} edit
 * @returns {{element: HTMLElement, show: function(Object, ?Object), paths: function(string[])}}
 */
export function sweepForm(schema, edit) {
  const others = searchForm(schema, edit);
  const rows = h('div', {class: 'stack', 'data-test': 'sweep'});
  const hint = h('p', {class: 'small muted', 'data-test': 'sweep-default'});
  const paths = h('datalist', {id: LIST});
  let shown = '';
  const read = () => Object.fromEntries([...rows.children].map((one) => one.read())
    .filter(([path, values]) => path && values).map(([path, values]) => [path, valuesOf(values)]));
  const tell = () => {
    const found = read();
    shown = JSON.stringify(found);
    [...rows.children].forEach((one) => one.setAttribute('data-pointer', pointerOf(['search', 'parameters', one.read()[0]])));
    edit(['search', 'parameters'], Object.keys(found).length ? found : undefined);
  };
  const add = (path = '', values = []) => rows.append(row(path, values, tell, tell));
  const more = h('button', {type: 'button', 'data-test': 'sweep-add', on: {click: () => {
    add();
    rows.lastChild.querySelector('input').focus();
  }}}, 'Sweep over a field');
  const show = (spec, resolved, swept, isStale) => {
    others.show(spec, resolved, swept, isStale);
    const parameters = spec.search?.parameters ?? {};
    if (JSON.stringify(parameters) !== shown && (shown || Object.keys(parameters).length)) {
      shown = JSON.stringify(parameters);
      replace(rows);
      Object.entries(parameters).forEach(([path, values]) => add(path, values));
    }
    hint.hidden = isStale || !resolved || Object.keys(parameters).length > 0;
    replace(hint, ownSweep(resolved, () => edit(['search', 'parameters'], resolved.search.parameters)));
  };
  return {
    element: h('div', {class: 'stack'}, rows, hint, h('div', {class: 'row'}, more), others.element, paths), show,
    paths: (list) => replace(paths, list.map((value) => h('option', {value}))),
  };
}
