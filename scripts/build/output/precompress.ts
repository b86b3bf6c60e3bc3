import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'

/** One file in all the forms that a server may send. Absent forms were not smaller than the file itself. */
export interface CompressedFile {
  readonly name: string
  readonly contents: Uint8Array
  readonly zstd?: Uint8Array
  readonly brotli?: Uint8Array
  readonly gzip?: Uint8Array
}

/** Text formats; images and fonts are already compressed. */
const COMPRESSIBLE = /\.(?:js|css|svg|ico|json|txt|html)$/

const ZSTD_LEVEL = 19 // the highest that needs no larger window in the browser
const GZIP_LEVEL = 9

/** Compresses at the highest levels: a build has time that a request does not have. */
async function precompress(name: string, contents: Uint8Array): Promise<CompressedFile> {
  if (!COMPRESSIBLE.test(name)) return { name, contents }
  const [zstd, brotli, gzipped] = await Promise.all([
    promisify(zstdCompress)(contents, {
      params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
      pledgedSrcSize: contents.length,
    }),
    promisify(brotliCompress)(contents, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
      },
    }),
    promisify(gzip)(contents, { level: GZIP_LEVEL }),
  ])
  const smaller = (bytes: Uint8Array) => bytes.length < contents.length
  return {
    name,
    contents,
    ...(smaller(zstd) ? { zstd } : {}),
    ...(smaller(brotli) ? { brotli } : {}),
    ...(smaller(gzipped) ? { gzip: gzipped } : {}),
  }
}

/** As `precompress`, and each file only once, however often it is asked for. */
export type Compressor = (name: string, contents: Uint8Array) => Promise<CompressedFile>

/**
 * For one build. Compressing takes a third of its time, on threads beside esbuild: a file is passed on when it is made, and
 * again when its forms are needed.
 */
export function createCompressor(): Compressor {
  const started = new Map<string, Promise<CompressedFile>>()
  return (name, contents) => {
    const compressing = started.get(name) ?? precompress(name, contents)
    started.set(name, compressing)
    return compressing
  }
}

/** A file of which only the size matters: nobody sends it. */
export type WeighedFile = Pick<CompressedFile, 'name' | 'contents' | 'brotli' | 'gzip'>

const QUICK_BROTLI = 5
const QUICK_GZIP = 4

/** Compresses to measure the size. Brotli's is an eighth too large, but takes a fiftieth of the time. */
export async function weigh(name: string, contents: Uint8Array): Promise<WeighedFile> {
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: QUICK_BROTLI } }),
    promisify(gzip)(contents, { level: QUICK_GZIP }),
  ])
  return { name, contents, brotli, gzip: gzipped }
}

/** The file and its compressed forms by file name. */
export function compressedForms({
  name,
  contents,
  zstd,
  brotli,
  gzip,
}: CompressedFile): ReadonlyMap<string, Uint8Array> {
  const forms = new Map([[name, contents]])
  if (zstd !== undefined) forms.set(`${name}.zst`, zstd)
  if (brotli !== undefined) forms.set(`${name}.br`, brotli)
  if (gzip !== undefined) forms.set(`${name}.gz`, gzip)
  return forms
}
