import { ApplicationSecrets } from './application-secrets.ts'
import type { SessionContext } from './sealed-cookie.ts'

const PURPOSE = 'runtime user mark'
const CHARACTERS = 10 // tells the users of one browser apart

/**
 * Marks a user for the browser: the same for all sessions of a user. Nobody without the server's keys can find out the
 * user, or whether two sites have the same one.
 * @param user with the name of the session, for users of different kinds.
 * @returns 10 characters of base64url.
 */
export function userMark({ secrets }: Pick<SessionContext, 'secrets'>, user: string): string {
  const signed = ApplicationSecrets.runtimeOf(secrets).sign(PURPOSE, user)
  return signed.slice(signed.lastIndexOf('.') + 1).slice(0, CHARACTERS)
}
