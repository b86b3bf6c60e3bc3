/** Limits that several files share. Each has its unit and reason. */

/** Longest request target in bytes: a longer one gets 414. Browsers and proxies support 8 KiB. */
export const MAX_TARGET_BYTES = 8_192
