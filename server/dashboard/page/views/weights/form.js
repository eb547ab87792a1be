/** New pretrained weights: the file, where it comes from, and what its pictures looked like. */

import {send} from '../../api.js';
import {h, replace} from '../../dom.js';
import {bytes, percent} from '../../format.js';
import {field} from '../../parts/field.js';
import {markProblem} from '../../parts/problem.js';
import {uploadFiles} from '../../parts/upload_files.js';
import {link} from '../../router.js';

function text(pointer, attributes = {}) {
  return h('input', {type: 'text', 'data-pointer': pointer, 'data-test': `weights${pointer.replaceAll('/', '-')}`, ...attributes});
}

/** "0.485, 0.456" as numbers; undefined for nothing. */
function numbers(control) {
  const words = control.value.split(/[\s,;]+/).filter(Boolean);
  return words.length ? words.map(Number) : undefined;
}

function preprocessing() {
  const scale = h('input', {type: 'number', step: 'any', min: '0', value: '255', 'data-pointer': '/preprocessing/scale'});
  const mean = text('/preprocessing/mean', {placeholder: '0.485, 0.456, 0.406'});
  const std = text('/preprocessing/std', {placeholder: '0.229, 0.224, 0.225'});
  return {
    element: h('details', {}, h('summary', {}, 'What the pictures they were trained on looked like'),
      h('div', {class: 'form-grid'}, field('Divided by', scale, 'first'), field('Mean', mean, 'then taken off, a number a channel'),
        field('Deviation', std, 'then divided by; leave both empty for the network\'s own'))),
    read: () => (numbers(mean) || numbers(std) ? {scale: scale.valueAsNumber, mean: numbers(mean) ?? [], std: numbers(std) ?? []} : undefined),
  };
}

/** What was filled in, without what was left empty. */
function given(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== undefined));
}

/**
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function weightsForm(signal) {
  const file = h('input', {type: 'file', required: true, accept: '.safetensors,.pt,.pth,.bin', 'data-pointer': '/files', 'data-test': 'weights-file'});
  const name = text('/name', {required: true, maxlength: '200'});
  const origin = text('/origin', {placeholder: 'who trained them, and on what'});
  const url = text('/url', {type: 'url'});
  const licence = text('/licence', {placeholder: 'Apache-2.0'});
  const pictures = preprocessing();
  const said = h('div', {role: 'status', class: 'muted', 'data-test': 'weights-progress'});
  const button = h('button', {class: 'primary', type: 'submit', 'data-test': 'weights-upload'}, 'Upload');
  file.addEventListener('change', () => {
    name.value ||= file.files[0]?.name.replace(/\.[^.]*$/, '') ?? '';
  });
  const form = h('form', {class: 'card', 'data-test': 'weights-form'},
    h('h2', {}, 'New weights'),
    h('div', {class: 'form-grid'}, field('File', file, 'safetensors, or a state dict of PyTorch; nothing in it is executed'), field('Name', name),
      field('Origin', origin), field('Address', url, 'recorded, never fetched'), field('Licence', licence, 'what their makers allow')),
    pictures.element, said, h('div', {class: 'row end'}, button));
  const submit = async () => {
    const [content] = file.files;
    const made = await send('POST', '/v1/weights', given({
      name: name.value.trim(), origin: origin.value, url: url.value, licence: licence.value, preprocessing: pictures.read(),
      files: [{name: content.name, size: content.size}],
    }), {signal});
    await uploadFiles(`/v1/weights/${made.id}`, [{name: content.name, content}],
      (share) => replace(said, `${percent(share)} of ${bytes(content.size)}`), signal);
    location.hash = link('/weights', {id: made.id});
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    replace(said);
    await submit().catch((error) => signal.aborted || markProblem(form, said, error));
    button.disabled = false;
  });
  return form;
}
