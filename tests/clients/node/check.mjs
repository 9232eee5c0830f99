// The harness of the Node.js clients: every feature prints one PASS, FAIL or SKIP line.
//   THALWEG_SKIP_FEATURES   comma-separated features that are not run
//   THALWEG_FEATURE_SECONDS how long one feature may take (default 60)
const skipped = (process.env.THALWEG_SKIP_FEATURES ?? '').split(',')
const limit = Number(process.env.THALWEG_FEATURE_SECONDS ?? 60) * 1000

export class Skip extends Error {}

export function need (cond, what) {
  if (!cond) throw new Error(typeof what === 'string' ? what : JSON.stringify(what))
}

export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

export async function until (ms, fn) {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(100)) {
    if (await fn()) return true
  }
  return false
}

export function checks (client) {
  const run = Date.now().toString(16)
  let failed = 0
  // A client that a feature left behind may still break in the background: that is not the next feature's fault.
  process.on('unhandledRejection', e => console.error('left behind:', e))
  const c = async (feature, fn) => {
    if (skipped.includes(feature)) {
      console.log(`SKIP ${client} ${feature} (expected failure)`)
      return
    }
    const start = Date.now()
    let timer
    try {
      await Promise.race([fn(), new Promise((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error(`no end after ${limit / 1000} s`)), limit)
      })])
      console.log(`PASS ${client} ${feature} ${((Date.now() - start) / 1000).toFixed(2)}s`)
    } catch (e) {
      if (e instanceof Skip) {
        console.log(`SKIP ${client} ${feature}: ${e.message}`)
      } else {
        failed++
        const inner = e.errors?.[0]?.errors?.[0]?.message ?? e.errors?.[0]?.message ?? ''
        console.log(`FAIL ${client} ${feature}: ${e.message} ${inner}`.replaceAll('\n', ' ').slice(0, 300))
        console.error(e)
      }
    } finally {
      clearTimeout(timer)
    }
  }
  c.topic = what => `interop-${client}-${what}-${run}`
  c.done = () => process.exit(failed ? 1 : 0)
  return c
}
