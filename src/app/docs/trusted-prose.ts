/** What browsers with Trusted Types have, and the types of TypeScript's library lack. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(html: string): string }): { createHTML(html: string): string }
}

const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes }

/** The one place of this application that trusts HTML: its server has made it of our own Markdown, with HTML escaped. */
const policy = trustedTypes?.createPolicy('handbook', { createHTML: (html) => html })

/** HTML of a chapter, as `dangerouslySetInnerHTML` takes it where the page asks for trusted types. */
export function trustedProse(html: string): string {
  // A TrustedHTML in browsers that have those; React passes it on unchanged.
  return policy?.createHTML(html) ?? html
}
