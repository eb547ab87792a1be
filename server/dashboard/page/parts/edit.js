/** Texts that are edited where they stand. */

import {h, replace} from '../dom.js';
import {act} from './message.js';

/**
 * A text with a button that makes a field of it. Enter (Ctrl+Enter where there are lines) or leaving the
 * field saves, Escape gives up.
 * @param {string} text
 * @param {function(string): Promise} save
 * @param {{label: string, empty?: string, lines?: boolean, name: string}} options label: for readers of
 *   screens; empty: shown for ""; name: of data-test
 * @returns {HTMLElement} with a method `update(text)`, which waits while somebody edits
 */
export function editable(text, save, {label, empty = '', lines = false, name}) {
  let current = text;
  const box = h('span', {class: 'editable', 'data-test': name});
  const show = () => replace(box,
    h('span', {class: current ? 'break lines' : 'muted'}, current || empty),
    h('button', {class: 'quiet small pencil', type: 'button', 'aria-label': label, title: label, on: {click: edit}, 'data-test': `${name}-edit`}, '✎'));

  function edit() {
    const field = h(lines ? 'textarea' : 'input', {'aria-label': label, 'data-test': `${name}-field`, class: 'grow'});
    field.value = current;
    replace(box, field);
    field.focus();
    endEditing(field, lines, async (value) => {
      if (value !== null && value !== current) {
        await act(field, async () => {
          await save(value);
          current = value;
        });
      }
      show();
    });
  }

  box.update = (value) => {
    if (value !== current && !box.querySelector('input, textarea')) {
      current = value;
      show();
    }
  };
  show();
  return box;
}

/** Calls done once, with the text or, when it was given up, null. */
function endEditing(field, lines, done) {
  let ended = false;
  const end = (value) => {
    if (!ended) {
      ended = true;
      done(value);
    }
  };
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      end(null);
    } else if (event.key === 'Enter' && (!lines || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      end(field.value);
    }
  });
  field.addEventListener('blur', () => end(field.value));
}

/**
 * Labels as one such text, separated by commas.
 * @param {string[]} labels
 * @param {function(string[]): Promise} save
 * @param {{label: string, empty?: string, name: string}} options
 * @returns {HTMLElement} with a method `update(labels)`
 */
export function editableLabels(labels, save, options) {
  const words = (text) => [...new Set(text.split(',').map((word) => word.trim()).filter(Boolean))];
  const box = editable(labels.join(', '), (text) => save(words(text)), options);
  const {update} = box;
  box.update = (next) => update(next.join(', '));
  return box;
}
