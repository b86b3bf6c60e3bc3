import { hash } from 'node:crypto'
import type { AssetManifest } from '../../assets/manifest.ts'
import { escapeJson } from '../../request/answer/escape-json.ts'

/** The import map that names what each script of a build must be. It is the same in all documents. */
export interface ImportMap {
  /** JSON, ready to stand in a `<script>`. */
  readonly text: string
  /** Source expression for a `script-src` without nonces: `'sha256-...'`. */
  readonly source: string
}

/** @returns `undefined` for a build that does not tell, that of the development server. */
export function createImportMap({ integrity }: Pick<AssetManifest, 'integrity'>): ImportMap | undefined {
  if (integrity === undefined) return undefined
  const text = escapeJson(JSON.stringify({ integrity }))
  return { text, source: `'sha256-${hash('sha256', text, 'base64')}'` }
}
