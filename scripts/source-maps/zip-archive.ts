/**
 * Writes archives in the ZIP format (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT): deflated files with
 * names in UTF-8, all below 4 GiB. Equal files give equal bytes: dates are the format's earliest.
 */
import { crc32, deflateRawSync } from 'node:zlib'

/** One file of an archive. */
export interface ArchivedFile {
  /** Path with forward slashes. */
  readonly path: string
  readonly contents: Uint8Array
}

const LOCAL_FILE = 0x04034b50
const CENTRAL_FILE = 0x02014b50
const END_OF_DIRECTORY = 0x06054b50
const VERSION = 20 // deflate
const UTF8_NAMES = 0x0800
const DEFLATED = 8
const FIRST_DAY = 0x0021 // 1980-01-01
const MOST_FILES = 0xffff
const MOST_BYTES = 0xffffffff

/**
 * Writes an archive.
 * @param offset of the archive in the file that it becomes part of, in bytes.
 * @throws {RangeError} beyond 65,535 files or 4 GiB.
 */
export function zipArchive(files: readonly ArchivedFile[], offset = 0): Buffer {
  if (files.length > MOST_FILES) throw new RangeError(`An archive has at most ${MOST_FILES} files`)
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = offset
  for (const { path, contents } of files) {
    const name = Buffer.from(path)
    const deflated = deflateRawSync(contents, { level: 9 })
    const sizes = { crc: crc32(contents), packed: deflated.length, unpacked: contents.length, name: name.length }
    const local = Buffer.concat([numbers([LOCAL_FILE, 4], ...commonFields(sizes)), name, deflated])
    parts.push(local)
    directory.push(
      numbers(
        [CENTRAL_FILE, 4],
        [VERSION, 2],
        ...commonFields(sizes),
        [0, 2], // comment
        [0, 2], // disk
        [0, 2], // attributes, in the archive
        [0, 4], // and of the file's system
        [at, 4],
      ),
      name,
    )
    at += local.length
  }
  const listed = Buffer.concat(directory)
  if (at + listed.length > MOST_BYTES) throw new RangeError('An archive has at most 4 GiB')
  const end = numbers(
    [END_OF_DIRECTORY, 4],
    [0, 2], // this disk
    [0, 2], // and the one where the directory begins
    [files.length, 2],
    [files.length, 2],
    [listed.length, 4],
    [at, 4],
    [0, 2], // comment
  )
  return Buffer.concat([...parts, listed, end])
}

interface FileSizes {
  readonly crc: number
  readonly packed: number
  readonly unpacked: number
  readonly name: number
}

type Field = readonly [value: number, bytes: 2 | 4]

/** What stands in a file's own header and in the directory's. */
function commonFields({ crc, packed, unpacked, name }: FileSizes): readonly Field[] {
  return [
    [VERSION, 2],
    [UTF8_NAMES, 2],
    [DEFLATED, 2],
    [0, 2], // time of day
    [FIRST_DAY, 2],
    [crc, 4],
    [packed, 4],
    [unpacked, 4],
    [name, 2],
    [0, 2], // further fields
  ]
}

function numbers(...fields: readonly Field[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [, size]) => sum + size, 0))
  let at = 0
  for (const [value, size] of fields) at = bytes.writeUIntLE(value, at, size)
  return bytes
}
