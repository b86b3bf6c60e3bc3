/** As whom one can sign in: only `admin` may see the private page. */
export const ROLES = ['guest', 'admin'] as const

/** As whom one is signed in. */
export type Role = (typeof ROLES)[number]
