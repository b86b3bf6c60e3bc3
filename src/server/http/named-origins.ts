/** Excludes characters that end a CSP directive: URL hosts allow more of them than one would expect. */
const ORIGIN = /^https?:\/\/[\w.:[\]-]+$/

/**
 * Checks origins from an application's configuration.
 * @param setting name of the setting, for the message.
 * @throws {TypeError} for an invalid http(s) origin.
 */
export function checkOrigins(setting: string, origins: readonly string[] = []): readonly string[] {
  for (const origin of origins) {
    if (ORIGIN.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin) continue
    throw new TypeError(
      `${setting}: '${origin}' is not an origin. An origin has scheme and host but no path, like 'https://api.example.com'.`,
    )
  }
  return origins
}
