import type { Metafile } from 'esbuild'
import { PUBLIC_PATH } from '../build-options.ts'
import type { CompressedFile, WeighedFile } from './precompress.ts'
import { REACT_NAMESPACE } from '../resolve/react-module.ts'
import type { SizedFile, SizeSection } from './size-table.ts'

/** Sorts a build's files into the sections of the table. */
export function sizeSections(
  publicFiles: readonly CompressedFile[],
  serverFiles: readonly WeighedFile[],
  notes: ReadonlyMap<string, string>,
): readonly SizeSection[] {
  const sized = (ending: RegExp) =>
    publicFiles.filter(({ name }) => ending.test(name)).map((file) => measure(file, notes))
  return [
    { title: `Scripts in the browser (${PUBLIC_PATH})`, files: sized(/\.js$/) },
    { title: 'Stylesheets', files: sized(/\.css$/) },
    { title: 'Assets', files: sized(/\.(?!js$|css$)\w+$/) },
    {
      title: 'Server (compressed quickly: nobody sends these)',
      files: serverFiles.map((file) => measure(file, notes)),
    },
  ]
}

function measure({ name, contents, gzip, brotli }: WeighedFile, notes: ReadonlyMap<string, string>): SizedFile {
  const note = notes.get(name)
  const raw = contents.length
  const sizes = { raw, gzip: gzip?.length ?? raw, brotli: brotli?.length ?? raw }
  return note === undefined ? { name, ...sizes } : { name, ...sizes, note }
}

/** Content of each chunk: the module for which it was split off, or else its largest source. */
export function chunkNotes(...metafiles: readonly (Metafile | undefined)[]): ReadonlyMap<string, string> {
  const notes = new Map<string, string>()
  for (const metafile of metafiles) {
    for (const [key, { entryPoint, inputs }] of Object.entries(metafile?.outputs ?? {})) {
      if (!key.endsWith('.js')) continue
      const name = key.slice(key.lastIndexOf('/') + 1)
      notes.set(name, entryPoint === undefined ? `shared: ${contentsOf(inputs)}` : shorten(entryPoint))
    }
  }
  return notes
}

function contentsOf(inputs: Metafile['outputs'][string]['inputs']): string {
  const sources = Object.entries(inputs)
    .toSorted(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput)
    .map(([source]) => shorten(source))
  const [largest = 'bundler helpers', ...others] = new Set(sources)
  return others.length > 0 ? `${largest} and ${others.length} more` : largest
}

/** A package's name for its files, the path in the project for all others. */
function shorten(source: string): string {
  if (source.startsWith(REACT_NAMESPACE)) return 'react'
  const inPackage = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//s.exec(source)
  return inPackage?.[1] ?? source
}
