import { decodeSegment } from '../../shared/route-segment.ts'

/** Lists the files of an export, so that the next one knows what it may replace. */
export const MARKER = '.millrace-export.json'

/** Begins the name of the folder that holds the files until all are there. */
export const STAGING = '.millrace-export.part-'

/** Bytes of one name in the usual file systems. */
const MOST_NAME_BYTES = 255
/** Bytes of a whole path there, less what is left for the folder of the site. */
const MOST_PATH_BYTES = 3_000

/** The file of a page's data, in a folder of the page's name. */
const DATA = 'all.data'

/** The place of a page among the files. */
export interface PagePlace {
  /** Its file, from the folder of the site. */
  readonly file: string
  /** The file of its data. */
  readonly data: string
}

/** Why a path cannot be a file. */
export interface PlaceFault {
  readonly fault: string
}

/**
 * The file that servers of files send for the path of a page: `/mills/a%20b` is `mills/a b/index.html`, and a path that ends
 * in `.html` is that file.
 * @param path of the table, percent-encoded, without query.
 */
export function placeOfPage(path: string): PagePlace | PlaceFault {
  const name = nameOf(path)
  if (typeof name !== 'string') return name
  const obeyed = obeyedFaultOf(name)
  if (obeyed !== undefined) return { fault: obeyed }
  const last = name.slice(name.lastIndexOf('/') + 1)
  if (/^index\.html?$/i.test(last)) return { fault: `'${last}' is the file of its folder's page` }
  const folder = name === '' ? '' : `${name}/`
  return { file: /\.html?$/i.test(name) ? name : `${folder}index.html`, data: `_m/data/${folder}${DATA}` }
}

/**
 * The name of a path among the files, without a leading slash: servers of files decode the path of a URL once, and then
 * take it for that of a file.
 */
export function nameOf(path: string): string | PlaceFault {
  const names: string[] = []
  for (const segment of path.split('/').slice(1)) {
    const name = decodeSegment(segment)
    const fault =
      name === undefined ? 'it does not decode' : ((names.length === 0 ? topFaultOf(name) : undefined) ?? faultOf(name))
    if (fault !== undefined && path !== '/') return { fault }
    names.push(name ?? '')
  }
  const all = names.join('/')
  return Buffer.byteLength(all) > MOST_PATH_BYTES ? { fault: `it is longer than ${MOST_PATH_BYTES} bytes` } : all
}

/**
 * Files that servers of files obey, in any folder: Apache's and those of its modules, PHP's, IIS's. A page of such a name
 * would at best make them refuse its folder.
 */
const OBEYED: ReadonlySet<string> = new Set([
  '.htaccess',
  '.htpasswd',
  '.htdigest',
  '.htgroup',
  '.user.ini',
  'web.config',
])
/** In the folder of the site: those of hosts of files. */
const OBEYED_AT_TOP: ReadonlySet<string> = new Set([
  '_headers',
  '_redirects',
  '_routes.json',
  '_worker.js',
  'netlify.toml',
  'vercel.json',
  'now.json',
  'staticwebapp.config.json',
  'firebase.json',
])

/** A handler may have such a name: then the application wants to write that file. */
function obeyedFaultOf(name: string): string | undefined {
  const [top = '', ...others] = name.split('/')
  const isObeyed = (one: string): boolean => OBEYED.has(folded(one))
  const culprit = OBEYED_AT_TOP.has(folded(top)) ? top : [top, ...others].find(isObeyed)
  return culprit === undefined ? undefined : `'${culprit}' is a file that configures servers of files`
}

/** Names in the folder of the site that exports keep, or make for themselves. */
function topFaultOf(name: string): string | undefined {
  if (!/^CNAME$/i.test(name) && !name.startsWith(STAGING)) return undefined
  return `'${name}' in the folder of a site is not a file of the site`
}

function faultOf(name: string): string | undefined {
  if (name === '') return 'it has an empty segment'
  if (name.toLowerCase() === DATA) return `'${name}' is the file of its folder's data`
  if (name === '.' || name === '..') return `'${name}' would lead out of its folder`
  // oxlint-disable-next-line no-control-regex -- just these
  if (/[/\\\u0000-\u001f\u007f]/.test(name)) return `${JSON.stringify(name)} has a slash or a control character`
  if (name === '.DS_Store') return `'${name}' is a file of the Finder, which exports keep`
  return Buffer.byteLength(name) > MOST_NAME_BYTES ? `a name of it is longer than ${MOST_NAME_BYTES} bytes` : undefined
}

/** Files that only the export itself writes, whatever the application has. */
const OWN: ReadonlySet<string> = new Set([MARKER, '404.html', '.nojekyll'])

/** The names of the files of a site. Bound: its files. */
export class FileNames {
  /** As written. */
  readonly #files = new Set<string>()
  /** Without case, and in one Unicode form: some file systems take such names for one. */
  readonly #folded = new Map<string, string>()
  readonly #folders = new Set<string>()

  constructor() {
    for (const name of OWN) this.#folded.set(folded(name), name)
  }

  /** Whether there is a file of this name. */
  has(name: string): boolean {
    return this.#files.has(name)
  }

  /** All of them, sorted. */
  get all(): readonly string[] {
    return [...this.#files].toSorted()
  }

  /**
   * Takes names: all or none.
   * @returns why that is not possible.
   */
  take(...names: readonly string[]): string | undefined {
    for (const name of names) {
      const fault = this.#faultOf(name)
      if (fault !== undefined) return fault
    }
    for (const name of names) {
      for (const parent of parentsOf(folded(name))) this.#folders.add(parent)
      this.#folded.set(folded(name), name)
      this.#files.add(name)
    }
    return undefined
  }

  /** As `take`, for the export itself. */
  takeOwn(name: string): string | undefined {
    if (!OWN.has(name)) return this.take(name)
    this.#files.add(name)
    return undefined
  }

  /** Gives back names of files that could not be written. */
  give(...names: readonly string[]): void {
    for (const name of names) {
      this.#folded.delete(folded(name))
      this.#files.delete(name)
    }
  }

  #faultOf(name: string): string | undefined {
    const other = this.#folded.get(folded(name))
    if (other !== undefined && OWN.has(other)) return `the export itself writes ${other}`
    if (other !== undefined) return `${other} is there already${other === name ? '' : ', and differs by case alone'}`
    if (this.#folders.has(folded(name))) return `${name} would be both a file and a folder`
    const file = parentsOf(folded(name)).find((parent) => this.#folded.has(parent))
    return file === undefined ? undefined : `${this.#folded.get(file)} would be both a file and a folder`
  }
}

/** Upper case first: it has more in common than lower case, such as that of `s` and `\u017f`. */
function folded(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}

function parentsOf(name: string): readonly string[] {
  const parents: string[] = []
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) parents.push(name.slice(0, at))
  return parents
}
