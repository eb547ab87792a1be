import {send} from '../../api.js';
import {h, replace} from '../../dom.js';
import {failure} from '../../parts/failure.js';
import {field} from '../../parts/field.js';

/**
 * Name and notes of a data set, to be changed.
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {HTMLElement} with `show(row)`
 */
export function editable(id, signal) {
  const notes = h('p', {class: 'break', 'data-test': 'dataset-notes'});
  const name = h('input', {required: true, maxlength: 200, 'data-test': 'edit-name'});
  const text = h('textarea', {maxlength: 20000, 'data-test': 'edit-notes'});
  const wrong = h('div', {});
  const save = async (event) => {
    event.preventDefault();
    try {
      show(await send('PATCH', `/v1/datasets/${id}`, {name: name.value.trim(), notes: text.value}, {signal}));
      element.open = false;
      replace(wrong);
    } catch (error) {
      replace(wrong, failure(error));
    }
  };
  const form = h('form', {class: 'stack', on: {submit: save}}, field('Name', name), field('Notes', text), wrong,
    h('div', {class: 'row'}, h('button', {type: 'submit', class: 'primary', 'data-test': 'edit-save'}, 'Save')));
  const element = h('details', {'data-test': 'dataset-edit'}, h('summary', {}, 'Change name and notes'), form);
  const show = (row) => {
    replace(notes, row.notes);
    if (!element.open) {
      name.value = row.name;
      text.value = row.notes;
    }
  };
  return Object.assign(h('div', {class: 'stack'}, notes, element), {show});
}
