import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join, relative } from 'node:path'

/** A file, folder or link of an image. */
export interface TreeEntry {
  /** Absolute, as seen by the container. */
  readonly path: string
  /** Absolute on this machine. */
  readonly file: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  /** Permission bits including setuid and sticky, without the file type. */
  readonly mode: number
  readonly uid: number
  /** In bytes; 0 except for files. */
  readonly size: number
}

/** Where an engine mounts its own files. */
const MOUNTS = /^\/(?:(?:proc|dev|sys)(?:\/|$)|etc\/(?:hosts|resolv\.conf)$)/

/** Everything below a folder, sorted by path. */
export function readTree(root: string): readonly TreeEntry[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry): TreeEntry => {
      const file = join(entry.parentPath, entry.name)
      const { mode, uid, size } = lstatSync(file)
      const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other'
      const path = `/${relative(root, file)}`
      return { path, file, kind, mode: mode & 0o7777, uid, size: kind === 'file' ? size : 0 }
    })
    .filter(({ path }) => !MOUNTS.test(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** SHA-256 over names, kinds, permissions and contents, in hexadecimal; times are left out. */
export function treeDigest(root: string): string {
  const hash = createHash('sha256')
  for (const { path, file, kind, mode } of readTree(root)) {
    hash.update(`${path}\0${kind}\0${mode}\0`)
    if (kind === 'file') hash.update(readFileSync(file))
    if (kind === 'link') hash.update(readlinkSync(file))
  }
  return hash.digest('hex')
}
