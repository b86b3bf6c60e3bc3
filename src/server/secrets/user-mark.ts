import { ApplicationSecrets } from './application-secrets.ts'
import type { SessionContext } from './sealed-cookie.ts'

const PURPOSE = 'runtime user mark'
const CHARACTERS = 10 // tells the users of one browser apart

/**
 * Marks a user for the browser. Nobody without the server's keys can find out the user, or whether two sites have the
 * same one. A session keeps the marks that it has started with: all its answers bear the same ones, even while keys
 * change.
 * @param user with the name of the session, for users of different kinds.
 * @returns 10 characters of base64url for each secret key, separated by dots: two texts of a user have one in common, if
 * the keys of that time have.
 */
export function userMarks({ secrets }: Pick<SessionContext, 'secrets'>, user: string): string {
  return ApplicationSecrets.runtimeOf(secrets)
    .signatures(PURPOSE, user)
    .map((signature) => signature.slice(0, CHARACTERS))
    .join('.')
}
