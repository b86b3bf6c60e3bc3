import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Metafile } from 'esbuild'
import { packageFolder } from '../resolve/installed-packages.ts'

/** Name of the file of a build with the licences of what is bundled. */
export const LICENCES = 'LICENSES.txt'

const LICENCE = /^(?:licen[cs]e|copying|notice)/i

/** A package of which something is in an output. */
interface BundledLicence {
  /** `name@version`. */
  readonly title: string
  /** Its texts, or the name of its licence; `undefined` if it tells neither. */
  readonly licence: string | undefined
}

/**
 * The packages that are in bundles, in order.
 * @param root folder of the metafiles' paths.
 */
export function bundledLicences(root: string, metafiles: readonly Metafile[]): readonly BundledLicence[] {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? input : [])),
    ),
  )
  const files = inputs.map((input) => resolve(root, input.replace(/^[a-z][a-z-]+:/, '')))
  const folders = new Set(files.flatMap((file) => packageFolder(file) ?? []))
  const titles = new Map(Array.from(folders, describe).map((described) => [described.title, described]))
  return [...titles.values()].toSorted((a, b) => (a.title < b.title ? -1 : 1))
}

const SEPARATOR = `\n\n${'-'.repeat(80)}\n\n`

/**
 * All of them as one text: each licence once, below the names of its packages, and similar ones beside each other. Compressed,
 * this is a third smaller than a list by names.
 */
export function licenceList(known: readonly BundledLicence[]): string {
  const byText = Map.groupBy(known, ({ licence }) => licence ?? 'No licence is named.')
  return [...byText]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([text, packages]) => `${packages.map(({ title }) => title).join('\n')}\n\n${text}`)
    .join(SEPARATOR)
}

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly license?: unknown
}

function describe(folder: string): BundledLicence {
  const file = join(folder, 'package.json')
  const read: Manifest = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : {}
  const { name = folder, version = '', license } = read
  const names = existsSync(folder) ? readdirSync(folder).filter((one) => LICENCE.test(one)) : []
  const texts = names.flatMap((one) => licenceTexts(join(folder, one)))
  const named = typeof license === 'string' ? `Licence: ${license}` : undefined
  return { title: `${name}@${version}`, licence: texts.length > 0 ? texts.join('\n\n') : named }
}

const TEXT = /^[^.]*$|\.(?:txt|md)$/i

/** The text of a file, or those in a folder of licences, such as `licenses` of ECharts. */
function licenceTexts(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [readFileSync(path, 'utf8').trim()]
  const files = readdirSync(path, { withFileTypes: true }).filter((one) => one.isFile() && TEXT.test(one.name))
  return files.map(({ name }) => readFileSync(join(path, name), 'utf8').trim())
}
