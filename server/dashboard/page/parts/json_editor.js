/** A text of JSON that can be edited; what is no JSON is said below it and goes no further. */

import {h, replace} from '../dom.js';

/** Arrays and objects that fit a line stay on one. */
function compact(value, indent = '') {
  const short = JSON.stringify(value);
  if (value === null || typeof value !== 'object' || indent.length + short.length <= 76) {
    return short.replaceAll(/":(?! )/g, '": ').replaceAll(/,(?=["{[\d-])/g, ', ');
  }
  const inner = `${indent}  `;
  const entries = Array.isArray(value)
    ? value.map((item) => inner + compact(item, inner))
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${compact(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${entries.join(',\n')}\n${indent}${close}`;
}

/** The Tab key leaves the field, as everywhere; Ctrl+] would be of use to few. */
function grow(area) {
  area.rows = Math.min(40, Math.max(8, area.value.split('\n').length + 1));
}

/**
 * @param {function(Object)} onChange gets each edited object
 * @param {string} label
 * @returns {HTMLElement} with `show(object)`, which leaves a text alone that is being edited
 */
export function jsonEditor(onChange, label = 'Description as JSON') {
  const wrong = h('p', {class: 'failure', role: 'alert', hidden: true, 'data-test': 'json-wrong'});
  const area = h('textarea', {
    class: 'mono json', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', 'aria-label': label, 'data-test': 'json',
  });
  const say = (text) => {
    replace(wrong, text);
    wrong.hidden = text === '';
    area.setAttribute('aria-invalid', String(text !== ''));
  };
  area.addEventListener('input', () => {
    grow(area);
    try {
      const value = JSON.parse(area.value);
      const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
      say(isObject ? '' : 'This is JSON, but no object.');
      isObject && onChange(value);
    } catch (error) {
      say(`This is no JSON yet: ${error.message}`);
    }
  });
  const show = (value) => {
    if (document.activeElement !== area) {
      area.value = compact(value);
      say('');
      grow(area);
    }
  };
  return Object.assign(h('div', {class: 'stack'}, area, wrong), {show});
}
