import { existsSync, statSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PartialMessage } from 'esbuild'
import { decoded, isFile } from './asset-files.ts'
import { displayPath } from '../build-options.ts'
import { metaUses, type FileReference, type MetaUse } from './file-references.ts'

/** Begins the imports that a rewritten module has; behind it are the kind and the file, as the module has written it. */
export const FILE_IMPORT = 'millrace-file:'

/** Imports the function that makes a URL for pages. */
export const URL_IMPORT = `${FILE_IMPORT}url`

/** A module with references that its bundle can keep. */
export interface Rewritten {
  /** `undefined` if nothing had to be changed. */
  readonly contents?: string
  readonly errors: readonly PartialMessage[]
}

/** A module to rewrite. */
interface SourceModule {
  readonly root: string
  readonly file: string
  readonly text: string
}

const UNCHANGED: Rewritten = { errors: [] }

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * For a module that browsers get, and the same module on the server: files have their public URLs on both sides. What would be
 * a path of the server's disk is refused.
 */
export function rewriteForPages(module: SourceModule): Rewritten {
  const { references, others } = metaUses(module.file, module.text)
  // What a page reads of `import.meta.env` is checked with the rest of the environment.
  const errors = others.flatMap((use) => (use.name === 'env' ? [] : refusal(module, use)))
  const edits: Edit[] = []
  const imports: string[] = []
  for (const reference of references) {
    const { kind, path, start, end, runs } = reference
    const fault = kind === 'url' ? faultOfFile(module, reference) : onDisk('import.meta.dirname')
    if (fault !== undefined) {
      errors.push({ text: fault, location: placeOf(module, start) })
      continue
    }
    const { name, suffix } = parted(path)
    imports.push(`import __millraceFile${imports.length} from ${JSON.stringify(importOf(runs, name))}\n`)
    const file = `__millraceFile${imports.length - 1}${suffix === '' ? '' : ` + ${JSON.stringify(suffix)}`}`
    edits.push({ start, end, text: `__millraceUrl(${file}${runs === undefined ? '' : ', true'})` })
  }
  if (errors.length > 0 || edits.length === 0) return { errors }
  imports.push(`import __millraceUrl from ${JSON.stringify(URL_IMPORT)}\n`)
  return { contents: `${edited(module.text, edits)}\n${imports.join('')}`, errors }
}

/** For a module of a package that browsers get. What is not there may never be asked for. */
export function rewriteForPackages(module: SourceModule): Rewritten {
  const { references } = metaUses(module.file, module.text)
  const edits: Edit[] = []
  const imports: string[] = []
  for (const { kind, path, start, end, runs, isFolder } of references) {
    const { name, suffix } = parted(path)
    if (kind !== 'url' || isFolder || !isFile(resolve(dirname(module.file), decoded(name)))) continue
    imports.push(`import __millraceFile${imports.length} from ${JSON.stringify(importOf(runs, relativeName(name)))}\n`)
    const file = `__millraceFile${imports.length - 1}${suffix === '' ? '' : ` + ${JSON.stringify(suffix)}`}`
    edits.push({ start, end, text: `new URL(${file}, globalThis.location.href)` })
  }
  if (edits.length === 0) return UNCHANGED
  return { contents: `${edited(module.text, edits)}\n${imports.join('')}`, errors: [] }
}

/** Where a server module finds a file at run time. */
export interface ServerPlace {
  /** A path beside the bundle, `./files/mail-0123.html`; `undefined` for the file itself. */
  copyOf(file: string, runs: FileReference['runs']): Promise<string | undefined>
}

const PUBLIC_READ = /^import\.meta\??\.env\??\.PUBLIC_/

/** For a module that only the server loads: it reads the files themselves. */
export async function rewriteForServer(module: SourceModule, place: ServerPlace): Promise<Rewritten> {
  const { references, others } = metaUses(module.file, module.text)
  const errors = others.flatMap((use) => {
    const isRefused = use.name === 'glob' || (use.name === 'env' && !PUBLIC_READ.test(module.text.slice(use.start)))
    return isRefused ? refusal(module, use) : []
  })
  const edits: Edit[] = []
  for (const reference of references) {
    const { kind, path, start, end, runs, isFolder = false } = reference
    const { name, suffix } = kind === 'url' ? parted(path) : { name: path, suffix: '' }
    const file = resolve(dirname(module.file), kind === 'url' ? decoded(name) : name)
    if (module.file.startsWith(file + sep)) continue // the module's own folder, and those around it
    if (!existsSync(file)) {
      // A path may be written to.
      if (kind === 'url' && !isFolder) errors.push({ text: notThere(module, file), location: placeOf(module, start) })
      continue
    }
    const copy = await place.copyOf(file, runs)
    const slash = name.endsWith('/') ? '/' : ''
    edits.push({
      start,
      end,
      text: expressionFor({ kind, isFolder }, { file: file + slash, copy: copy && copy + slash, suffix }),
    })
  }
  if (errors.length > 0 || edits.length === 0) return { errors }
  return { contents: edited(module.text, edits), errors }
}

function expressionFor(
  { kind, isFolder }: Required<Pick<FileReference, 'kind'>> & { readonly isFolder: boolean },
  { file, copy, suffix }: { readonly file: string; readonly copy: string | undefined; readonly suffix: string },
): string {
  const text = JSON.stringify
  // Inside of a template that goes on.
  if (isFolder && kind === 'url') return copy ?? pathToFileURL(file).href
  if (isFolder && kind === 'text') return copy === undefined ? file : `\${import.meta.dirname}${copy.slice(1)}`
  if (kind === 'url') {
    return copy === undefined
      ? `new URL(${text(pathToFileURL(file).href + suffix)})`
      : `new URL(${text(copy + suffix)}, import.meta.url)`
  }
  if (kind === 'path') return copy === undefined ? text(file) : `import.meta.dirname, ${text(copy)}`
  return copy === undefined ? text(file) : `(import.meta.dirname + ${text(copy.slice(1))})`
}

function refusal(module: SourceModule, { name, start }: MetaUse): readonly PartialMessage[] {
  const text = refusalText(name)
  return text === undefined ? [] : [{ text, location: placeOf(module, start) }]
}

function refusalText(name: string): string | undefined {
  switch (name) {
    case 'hot':
      return undefined
    case 'env':
      return "import.meta.env is Vite's: read process.env.NODE_ENV, process.env.PUBLIC_* or, on the server, any other variable."
    case 'glob':
      return "import.meta.glob is Vite's: import each file by its name."
    case 'new URL':
      return 'new URL(…, import.meta.url) has to name its file in a plain text, or the build cannot know which one it is.'
    default:
      return onDisk(name === '' ? 'import.meta' : `import.meta.${name}`)
  }
}

function onDisk(what: string): string {
  return (
    `${what} is a path of the server's disk while a page is rendered there. Name a file by ` +
    `new URL('./file', import.meta.url), or read it in a *.server.ts module.`
  )
}

function faultOfFile(module: SourceModule, { path, isFolder }: FileReference): string | undefined {
  if (isFolder === true) return refusalText('new URL')
  const { name } = parted(path)
  const file = resolve(dirname(module.file), decoded(name))
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isFile() === true) return undefined
  if (found !== undefined) return `${displayPath(module.root, file)} is a folder: name each of its files.`
  return name.startsWith('.') ? notThere(module, file) : undefined // a package's, perhaps
}

function notThere({ root }: SourceModule, file: string): string {
  return `There is no file ${displayPath(root, file)}. A URL with import.meta.url is relative to its own module.`
}

function importOf(runs: FileReference['runs'], name: string): string {
  return `${FILE_IMPORT}${runs ?? 'file'}:${name}`
}

/** By the standard, a name without a dot is relative too. */
function relativeName(name: string): string {
  return name.startsWith('.') ? name : `./${name}`
}

function parted(path: string): { readonly name: string; readonly suffix: string } {
  const end = path.search(/[?#]/)
  return end < 0 ? { name: path, suffix: '' } : { name: path.slice(0, end), suffix: path.slice(end) }
}

/** Keeps every line where it is. */
function edited(text: string, edits: readonly Edit[]): string {
  let at = 0
  const parts = edits.flatMap(({ start, end, text: replacement }) => {
    const lines = text.slice(start, end).split('\n').length - 1
    const part = [text.slice(at, start), replacement, '\n'.repeat(lines)]
    at = end
    return part
  })
  return [...parts, text.slice(at)].join('')
}

/** esbuild counts columns in bytes. */
function placeOf({ root, file, text }: SourceModule, start: number): NonNullable<PartialMessage['location']> {
  const line = text.slice(0, start).split('\n').length
  const lineText = text.split('\n')[line - 1] ?? ''
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start)
  return { file: displayPath(root, file), line, column: Buffer.byteLength(before), lineText }
}
