/** Files to the service, in pieces, each tried again from where the server stands. */

import {upload} from '../api.js';
import {pause} from '../connection.js';

const PIECE = 4 << 20;
const TRIES = 6;
/** The server or the way to it is gone for a while. */
const LATER = new Set([0, 429, 502, 503, 504]);

/** One piece; where the next begins. The server may have had it already when an answer was lost. */
async function sendPiece(path, content, offset, signal) {
  const end = Math.min(offset + PIECE, content.size);
  for (let tried = 1; ; tried++) {
    try {
      const query = `?offset=${offset}&final=${end === content.size}`;
      return (await upload('PUT', path + query, content.slice(offset, end), {signal})).received;
    } catch (error) {
      if (error.code === 'offset_mismatch' && Number.isInteger(error.body?.received)) {
        return error.body.received;
      }
      if (!LATER.has(error.status) || tried === TRIES) {
        throw error;
      }
      await pause(1000 * tried, signal);
    }
  }
}

/**
 * @param {string} path of the asset, e.g. "/v1/datasets/ID"
 * @param {{name: string, content: Blob}[]} files
 * @param {function(number)} onProgress gets the share of all bytes that is there
 * @param {AbortSignal} signal
 */
export async function uploadFiles(path, files, onProgress, signal) {
  const total = files.reduce((sum, {content}) => sum + content.size, 0);
  let before = 0;
  for (const {name, content} of files) {
    let at = 0;
    do {
      at = await sendPiece(`${path}/files/${encodeURIComponent(name)}`, content, at, signal);
      onProgress(total ? (before + at) / total : 1);
    } while (at < content.size);
    before += content.size;
  }
}
