/** Nothing that could end a directive of a policy: a host may hold more characters than one would think. */
const ORIGIN = /^https?:\/\/[\w.:[\]-]+$/

/**
 * Checks origins that an application has named.
 * @param setting where it has.
 * @throws {TypeError} for what is no http(s) origin.
 */
export function checkOrigins(setting: string, origins: readonly string[] = []): readonly string[] {
  for (const origin of origins) {
    if (ORIGIN.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin) continue
    throw new TypeError(
      `${setting}: '${origin}' is no origin. One has scheme and host and no path, like 'https://api.example.com'.`,
    )
  }
  return origins
}
