/**
 * Fields made from the contract: a control for each property of an object of the job document. What the fields are
 * called, what they take and what they are when left alone is said by the service, nowhere here.
 */

import {h} from '../dom.js';
import {choice, field} from './field.js';
import {at, listText, parsed, parsedList, pointerOf} from './spec.js';

const typesOf = (schema) => [schema.type ?? []].flat().filter((type) => type !== 'null');

function isChoice(schema) {
  return Boolean(schema.enum) || typesOf(schema)[0] === 'boolean';
}

function isPlainList(schema) {
  return typesOf(schema)[0] === 'array' && ['string', 'integer', 'number'].includes(schema.items?.type);
}

/** How a value becomes the text of its control, and back. */
function codecOf(schema) {
  const [type] = typesOf(schema);
  if (schema.enum || type === 'string') {
    return {text: String, value: (text) => text};
  }
  if (isPlainList(schema)) {
    return {text: listText, value: parsedList};
  }
  return {text: (value) => (typeof value === 'string' ? value : JSON.stringify(value)), value: parsed};
}

function controlOf(schema, attributes) {
  const [type] = typesOf(schema);
  if (isChoice(schema)) {
    const values = schema.enum?.filter((one) => one !== null) ?? ['true', 'false'];
    return choice([['', ''], ...values], attributes);
  }
  if (type === 'number' || type === 'integer') {
    const {minimum, maximum} = schema;
    return h('input', {...attributes, type: 'number', min: minimum, max: maximum, step: type === 'integer' ? 1 : 'any'});
  }
  const isLong = type === 'array' && !isPlainList(schema);
  return isLong ? h('textarea', {...attributes, class: 'mono', rows: 2, placeholder: '[]'}) : h('input', {...attributes, type: 'text', autocomplete: 'off'});
}

/** What the control says while it is left alone. */
function showDefault(control, text, isSwept) {
  if (control.options) {
    control.options[0].text = isSwept ? text : text ? `default (${text})` : 'default';
  } else {
    control.placeholder = text;
  }
}

function defaultText(schema, resolved, path, isSwept) {
  const value = at(resolved, path) ?? (resolved ? undefined : schema.default);
  if (isSwept) {
    return 'swept';
  }
  return value === undefined || value === null ? '' : codecOf(schema).text(value);
}

/** A service that knows the field would have resolved it: without that it means nothing in this job. */
function isForeign(schema, resolved, path) {
  const isAlwaysResolved = 'default' in schema || [schema.type].flat().includes('null');
  const around = at(resolved, path.slice(0, -1));
  return isAlwaysResolved && around !== undefined && around !== null && !(path.at(-1) in around);
}

/** The unit is told where the description does not. */
function hintOf({description = '', 'x-unit': unit}) {
  return unit && !description.includes(unit) ? `${description}, in ${unit}` : description;
}

function leaf(name, schema, path, edit) {
  const codec = codecOf(schema);
  const control = controlOf(schema, {'data-pointer': pointerOf(path), 'data-test': `field-${path.join('.')}`, name: path.join('.'),
    on: {[isChoice(schema) ? 'change' : 'input']: () => edit(path, control.value.trim() === '' ? undefined : codec.value(control.value.trim()))}});
  const element = field(name.replaceAll('_', ' '), control, hintOf(schema));
  const show = (spec, resolved, swept, isStale) => {
    const value = at(spec, path);
    const isSwept = swept.has(path.join('.'));
    const isTold = !isStale || Object.hasOwn(spec.search?.parameters ?? {}, path.join('.'));
    element.hidden = value === undefined && !isSwept && isForeign(schema, resolved, path);
    showDefault(control, isTold ? defaultText(schema, resolved, path, isSwept) : '', isSwept && isTold);
    if (document.activeElement !== control) {
      control.value = value === undefined || value === null ? '' : codec.text(value);
    }
  };
  return {element, show};
}

function group(name, schema, path, edit) {
  const inner = schemaForm(schema, path, edit);
  const element = h('fieldset', {class: 'form-group'}, h('legend', {}, name.replaceAll('_', ' ')),
    schema.description ? h('p', {class: 'hint small muted'}, schema.description) : null, inner.element);
  const show = (...given) => {
    inner.show(...given);
    element.hidden = ![...inner.element.children].some((one) => !one.hidden);
  };
  return {element, show};
}

/**
 * @param {{properties: Object}} schema
 * @param {string[]} path of the object in the document
 * @param {function(string[], *)} edit gets each value that was changed; undefined: left alone again
 * @returns {{element: HTMLElement, show: function(Object, ?Object, Set<string>, boolean)}} show takes the document, the resolved one,
 *   the dotted paths that the job sweeps over, and whether the resolved one is of a document before: then no default is told
 */
export function schemaForm(schema, path, edit) {
  const fields = Object.entries(schema.properties).map(([name, property]) => (property.properties
    ? group(name, property, [...path, name], edit) : leaf(name, property, [...path, name], edit)));
  return {
    element: h('div', {class: 'form-grid'}, fields.map(({element}) => element)),
    show: (...given) => fields.forEach((one) => one.show(...given)),
  };
}

/** @returns {string[]} dotted paths of everything that a sweep may name */
export function leafPaths(schema, path = []) {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => (property.properties
    ? leafPaths(property, [...path, name]) : [[...path, name].join('.')]));
}
