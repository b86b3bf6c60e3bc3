/**
 * Names of cookies that identify no session, and may change between a call and its repetition. Whole names: any other
 * cookie may be a session's, such as `__session` or `_app_session`.
 */
const NAMES = [
  // Analytics and advertisements.
  '__utm[a-z]{1,2}|_ga|_ga_[a-z0-9]+|_gid|_gat(?:_[\\w-]+)?|_gac_[\\w-]+|_gcl_[a-z]{2}|_fb[cp]|_pk_(?:id|ref|ses|cvar|hsr)\\b.*',
  '_hj\\w+|_uet[sv]id|_cl(?:ck|sk)|_ttp?|_tt_enable_cookie|_scid\\w*|_sctr|_pin_unauth|_ym_\\w+|_vwo_\\w+|_vis_opt_\\w+|_dd_s|_rdt_uuid',
  '_mkto_trk|_hp2_\\w+\\.\\d+|__h(?:stc|ssc|ssrc)|hubspotutk|__stripe_[ms]id|__gads|__gpi|__eoi|ajs_(?:anonymous|user|group)\\w*|amp_[0-9a-f]{6}\\w*|amplitude_\\w+',
  'ph_\\w+_posthog|mp_\\w+_mixpanel|utag_main\\w*|optimizely\\w+|intercom-(?:device-)?id-\\w+|_parsely_\\w+|_sp_(?:id|ses)\\.\\w+',
  // Balancers, and what tells robots from people.
  'AWSALB(?:TG)?(?:CORS)?|BIGipServer.*|ARRAffinity(?:SameSite)?|GCLB|SERVERID|TS[0-9a-f]{6,}',
  '__cf_bm|_cfuvid|cf_clearance|__cflb|(?:visid_incap|incap_ses|nlbi)_[\\w-]+|ak_bmsc|bm_s[vz]|_abck|datadome',
  // Consent, CSRF tokens, and our own messages.
  '[\\w-]*consent|euconsent-v2|Optanon\\w+|[\\w.-]*(?:csrf|xsrf)(?:[_-]?(?:token|secret))?|.*\\.flash',
]
const NO_SESSION = new RegExp(`^(?:${NAMES.join('|')})$`, 'i')

/** Settings have short values. */
const SETTING = /(?:theme|lang|language|locale)$/i

/** A shorter value may be a setting that many visitors have. */
export const SHORTEST_SECRET = 16 // characters

/** Whether a cookie may be that of a session. @param name without the base path. */
export function mayBeSession(name: string, value: string): boolean {
  return !NO_SESSION.test(name) && !(value.length < SHORTEST_SECRET && SETTING.test(name))
}
