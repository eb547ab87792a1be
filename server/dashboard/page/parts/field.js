/** Fields of forms. */

import {h} from '../dom.js';

let made = 0;

/**
 * A control under its label, with a hint below.
 * @param {string} text
 * @param {HTMLElement} control gets an id when it has none
 * @param {?string} hint
 */
export function field(text, control, hint = null) {
  control.id ||= `field-${++made}`;
  const below = hint ? h('span', {class: 'hint', id: `${control.id}-hint`}, hint) : null;
  if (below) {
    control.setAttribute('aria-describedby', below.id);
  }
  return h('div', {class: 'field'}, h('label', {for: control.id}, text), control, below);
}

/**
 * A select; what it holds is told by its event `change`.
 * @param {(string|[string, string])[]} choices values, or pairs of value and text
 * @param {Object} attributes
 * @returns {HTMLSelectElement}
 */
export function choice(choices, attributes) {
  const pairs = choices.map((one) => (Array.isArray(one) ? one : [one, one]));
  return h('select', attributes, pairs.map(([value, text]) => h('option', {value}, text)));
}
