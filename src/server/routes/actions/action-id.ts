import { hash } from 'node:crypto'

const ID_LENGTH = 16 // 96 bits: no collisions, and impossible to guess

/**
 * Identifies an action by its place in the source, so that all builds and instances agree.
 * @param module path relative to the application's folder, with `/` between its parts:
 * `lab/guestbook/actions.server.ts`.
 * @param name of the export.
 * @returns characters of base64url.
 */
export function actionId(module: string, name: string): string {
  return hash('sha256', `${module}#${name}`, 'base64url').slice(0, ID_LENGTH)
}
