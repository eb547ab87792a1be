/** The parameters of a network of the catalogue as a form, made from what the catalogue says of them. */

import {h} from '../dom.js';
import {choice, field} from './field.js';

/** What a control holds, as the API takes it; undefined: the default. */
function read(parameter, control) {
  const text = control.value.trim();
  if (text === '') {
    return undefined;
  }
  if (parameter.type === 'integers') {
    return text === '[]' ? [] : text.split(/[\s,]+/).map(Number);
  }
  return parameter.type === 'choice' ? text : parameter.type === 'boolean' ? text === 'true' : Number(text);
}

function controlOf(parameter, value) {
  const {name, type, minimum, maximum} = parameter;
  const fallback = JSON.stringify(parameter.default).replaceAll('"', '');
  const text = value === undefined ? '' : Array.isArray(value) ? value.join(', ') || '[]' : String(value);
  const common = {name, value: text, 'data-test': `parameter-${name}`, 'data-pointer': `/network/${name}`, autocomplete: 'off'};
  if (type === 'choice' || type === 'boolean') {
    const values = parameter.choices ?? ['true', 'false'];
    return choice([['', `default (${fallback})`], ...values], common);
  }
  const isNumber = type === 'integer' || type === 'number';
  return h('input', {
    ...common, placeholder: fallback, type: isNumber ? 'number' : 'text', min: isNumber ? minimum : null,
    max: isNumber ? maximum : null, step: type === 'integer' ? 1 : 'any',
  });
}

/**
 * @param {Object[]} parameters of a template
 * @param {Object} values what is not the default
 * @param {function(Object)} onChange gets all that is not the default
 * @returns {HTMLElement}
 */
export function templateForm(parameters, values, onChange) {
  const controls = parameters.map((parameter) => [parameter, controlOf(parameter, values[parameter.name])]);
  const tell = () => onChange(Object.fromEntries(controls
    .map(([parameter, control]) => [parameter.name, read(parameter, control)]).filter(([, value]) => value !== undefined)));
  return h('div', {class: 'form-grid', on: {input: tell, change: tell}, 'data-test': 'parameters'},
    controls.map(([parameter, control]) => field(parameter.name.replaceAll('_', ' '), control, parameter.text)));
}
