import {h, replace} from '../../dom.js';
import {explainPicture, predict, rowsOf} from '../../parts/explain.js';
import {failure} from '../../parts/failure.js';
import {mapsOf} from '../../parts/maps.js';
import {saidOf} from '../../parts/said.js';
import {sequenceForm} from './predict_sequence.js';

const TAKEN = new Set(['image/png', 'image/jpeg', 'image/webp']);

/** What the service does not read, the browser may: a photo of a phone, a GIF. */
async function readable(file) {
  if (TAKEN.has(file.type)) {
    return file;
  }
  const bitmap = await createImageBitmap(file).catch(() => { throw new Error(`The browser cannot read ${file.name || 'this'} as a picture.`); });
  const canvas = h('canvas', {width: bitmap.width, height: bitmap.height});
  canvas.getContext('2d').drawImage(bitmap, 0, 0);
  return new Promise((resolve) => { canvas.toBlob(resolve, 'image/png'); });
}

/** What the network says, with its map where it has one. */
async function ask(trial, content, signal) {
  try {
    return await explainPicture(trial.id, content, signal);
  } catch (error) {
    if (error.code !== 'not_supported') {
      throw error;
    }
    return predict(trial.id, content, signal);
  }
}

function answerView(answer, address, signal) {
  const {predicted, arrays = []} = answer.result;
  const noMap = predicted === null ? 'There is no class that a map could speak for.' : 'This network has no layer that a map can be made of.';
  const copy = () => h('img', {class: 'picture stretched', src: address, alt: 'The picture that was chosen'});
  const seen = arrays.length > 0 ? mapsOf(rowsOf(answer), copy, signal) : h('div', {class: 'maps'}, h('figure', {}, copy(), h('figcaption', {class: 'small muted'}, noMap)));
  return [h('section', {class: 'card'}, seen), h('section', {class: 'card', 'data-test': 'answer'}, saidOf(answer.result))];
}

/** A place to drop a picture on, with buttons for a file and for the camera of a phone. */
function dropZone(onFile) {
  const input = (attributes, test) => {
    const control = h('input', {type: 'file', accept: 'image/*', 'data-test': test, ...attributes, on: {change: () => {
      if (control.files.length > 0) {
        onFile(control.files[0]);
        control.value = '';
      }
    }}});
    return control;
  };
  const over = (event, is) => { event.preventDefault(); zone.classList.toggle('over', is); };
  const zone = h('div', {class: 'drop', 'data-test': 'drop', on: {
    dragover: (event) => over(event, true),
    dragleave: (event) => over(event, false),
    drop: (event) => {
      over(event, false);
      const file = event.dataTransfer.files[0];
      return file && onFile(file);
    },
  }}, h('p', {}, 'Drop a picture here, paste one, or'),
  h('div', {class: 'row'}, h('label', {class: 'button primary'}, 'Choose a picture', input({}, 'choose')),
    h('label', {class: 'button'}, 'Take a photo', input({capture: 'environment'}, 'camera'))),
  h('p', {class: 'small muted'}, 'PNG, JPEG or WebP. It is kept for a day, then gone.'));
  return zone;
}

function pictureForm(trial, scope) {
  const result = h('div', {class: 'split', 'aria-live': 'polite', 'data-test': 'result'});
  let current = new AbortController();
  scope.signal.addEventListener('abort', () => current.abort(), {once: true});
  const show = async (file) => {
    current.abort();
    current = new AbortController();
    const {signal} = current;
    const address = URL.createObjectURL(file);
    signal.addEventListener('abort', () => URL.revokeObjectURL(address), {once: true});
    replace(result, h('section', {class: 'card'}, h('div', {class: 'maps'}, h('figure', {}, h('img', {class: 'picture stretched', src: address, alt: 'The picture that was chosen'}), h('figcaption', {class: 'muted', role: 'status'}, 'The network looks at it …')))));
    try {
      replace(result, answerView(await ask(trial, await readable(file), signal), address, signal));
    } catch (error) {
      signal.aborted || replace(result, failure(error));
    }
  };
  document.addEventListener('paste', ({clipboardData}) => {
    const file = [...(clipboardData?.files ?? [])].find(({type}) => type.startsWith('image/'));
    return file && show(file);
  }, {signal: scope.signal});
  return h('div', {class: 'stack'}, dropZone(show), result);
}

/** Try the network on something of one's own. */
export const tab = {
  name: 'predict',
  label: 'Try it',
  applies: (trial, job) => job.kind !== 'signal_classification',
  show(trial, job, scope) {
    return job.kind.startsWith('sequence') ? sequenceForm(trial, scope) : pictureForm(trial, scope);
  },
};
