import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { type Answer, failed } from './documents.js';

export function read(path: string, replaced: boolean): Answer {
  try {
    if (replaced && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      return { link: true };
    }
    return { bytes: readFileSync(path).toString('base64') };
  } catch (error) {
    const absent = replaced && (error as NodeJS.ErrnoException).code === 'ENOENT';
    return absent ? { absent: true } : failed(error);
  }
}

/**
 * Replaces a file in one step, so that whoever reads it has the old one or the new one. It keeps its mode and its
 * owner; a new one is its owner's alone.
 */
export function replace(path: string, text: string): void {
  const folder = dirname(path);
  const beside = join(folder, `.${basename(path)}.${randomUUID()}`);
  const file = openSync(beside, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found) {
      // Where another user owns it, such as that of the server, it stays theirs.
      const { uid, gid } = fstatSync(file);
      if (uid !== found.uid || gid !== found.gid) fchownSync(file, found.uid, found.gid);
      fchmodSync(file, found.mode & 0o7777);
    }
    fsyncSync(file);
    closeSync(file);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
  // The new name, too, survives a loss of power. Windows opens no folder.
  if (process.platform === 'win32') return;
  const names = openSync(folder, 'r');
  fsyncSync(names);
  closeSync(names);
}
