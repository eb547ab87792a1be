/** A folder that was chosen in the browser, as one file to upload. */

import {tar} from './tar.js';

/** What the archive of a folder is called; by it an upload that was broken off is known again. */
export const FOLDER = 'folder.tar';

/**
 * Names begin below the chosen folder, in a fixed order; hidden files stay behind.
 * @param {FileList} list of an input with `webkitdirectory`
 * @returns {{name: string, content: Blob}}
 */
export function packed(list) {
  const files = [...list].map((file) => ({file, name: file.webkitRelativePath.split('/').slice(1).join('/')}))
    .filter(({name}) => name && !name.split('/').some((word) => word.startsWith('.')));
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {name: FOLDER, content: tar(files)};
}
