import { hash } from 'node:crypto'
import type { AssetManifest } from '../../assets/manifest.ts'
import { escapeJson } from '../../request/answer/escape-json.ts'

/** The import map with the integrity of each script of a build. It is the same in all documents. */
export interface ImportMap {
  /** JSON, escaped for a `<script>`. */
  readonly text: string
  /** Source expression for a `script-src` without nonces: `'sha256-...'`. */
  readonly source: string
}

/** @returns `undefined` for a build without hashes, such as that of the development server. */
export function createImportMap({ integrity }: Pick<AssetManifest, 'integrity'>): ImportMap | undefined {
  if (integrity === undefined) return undefined
  const text = escapeJson(JSON.stringify({ integrity }))
  return { text, source: `'sha256-${hash('sha256', text, 'base64')}'` }
}
