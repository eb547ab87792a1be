import {h, replace} from '../../dom.js';
import {percent} from '../../format.js';
import {failure} from '../../parts/failure.js';
import {field} from '../../parts/field.js';
import {FOLDER, packed} from '../../parts/folder.js';
import {uploadFiles} from '../../parts/upload_files.js';

/** Of the chosen files those that the set waits for: of the same name and size. */
function wanted(chosen, row) {
  return chosen.filter(({name, content}) => row.files.some((file) => file.name === name && !file.complete && (file.size ?? content.size) === content.size));
}

/**
 * An upload that was broken off goes on where the server stands, when the same files are chosen again.
 * @param {Object} row a data set whose files are not all there
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function resume(row, signal) {
  const isFolder = row.files.some(({name}) => name === FOLDER);
  const said = h('div', {role: 'status', 'data-test': 'resume-status'});
  const control = h('input', {type: 'file', multiple: true, webkitdirectory: isFolder, 'data-test': 'resume-files'});
  const say = (share) => replace(said, `${percent(share)} uploaded. Stay on this page until all is there.`);
  const go = async () => {
    const chosen = isFolder ? [packed(control.files)] : [...control.files].map((file) => ({name: file.name, content: file}));
    const files = wanted(chosen, row);
    if (files.length === 0) {
      replace(said, h('p', {class: 'warning'}, 'These are not the files that the set waits for: names and sizes must be the same.'));
      return;
    }
    await uploadFiles(`/v1/datasets/${row.id}`, files, say, signal);
  };
  control.addEventListener('change', () => go().catch((error) => signal.aborted || replace(said, failure(error))));
  return h('div', {class: 'stack'}, field(isFolder ? 'Go on: choose the same folder' : 'Go on: choose the same files', control), said);
}
