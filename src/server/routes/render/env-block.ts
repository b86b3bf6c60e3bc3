import { hash } from 'node:crypto'
import { PUBLIC_ENV_ID } from '../../../shared/public-env.ts'
import { escapeJson } from '../../request/answer/escape-json.ts'

const HASH_LENGTH = 22 // base64url digits, as in `document-tag.ts`

/** The data block with the configuration that browsers may see. */
export interface EnvBlock {
  /** For the start of the head: modules read it. */
  readonly element: string
  /** Equal for equal values, on every instance. */
  readonly hash: string
}

/** @param values what JSON can represent. */
export function createEnvBlock(values: object): EnvBlock {
  const json = escapeJson(JSON.stringify(values))
  return {
    element: `<script type="application/json" id="${PUBLIC_ENV_ID}">${json}</script>`,
    hash: hash('sha256', json, 'base64url').slice(0, HASH_LENGTH),
  }
}
