import manifest from 'millrace/package.json' with { type: 'json' }

/** What a visitor can get, and where. */
export interface Release {
  readonly version: string
  readonly license: string
  /** The repository for people; `undefined` if package.json names none. */
  readonly code: string | undefined
}

const { repository } = manifest as { readonly repository?: string | { readonly url: string } }
const address = typeof repository === 'string' ? repository : repository?.url
const web = address?.replace(/^git\+/, '').replace(/\.git$/, '')

/** Of this build. */
export const RELEASE: Release = {
  version: manifest.version,
  license: manifest.license,
  code: web?.startsWith('https://') === true ? web : undefined,
}
