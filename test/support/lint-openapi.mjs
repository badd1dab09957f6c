/**
 * Runs two linters over an OpenAPI document on stdin, and prints what they remark, one a line. In a process of its
 * own, because both patch what they find in theirs.
 */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore from '@stoplight/spectral-core'
import spectralRules from '@stoplight/spectral-rulesets'
import { Ajv } from 'ajv'

const source = await new Response(process.stdin).text()

const config = await createConfig({ extends: ['recommended'] })
const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config })
for (const { ruleId, message, location } of problems) {
  console.log(`redocly ${ruleId} ${location[0]?.pointer}: ${message}`)
}

rememberSchemas()
const spectral = new spectralCore.Spectral()
spectral.setRuleset({ extends: [[spectralRules.oas, 'recommended']] })
for (const { code, message, path } of await spectral.run(JSON.parse(source))) {
  console.log(`spectral ${code} ${path.join('/')}: ${message}`)
}

/** Spectral compiles the schema of each example anew, and most of them are the same: that is half of its time. */
function rememberSchemas() {
  const core = Object.getPrototypeOf(Ajv.prototype)
  const { compile } = core
  const compiled = new WeakMap()
  core.compile = function (schema, ...rest) {
    const known = compiled.get(this) ?? new Map()
    compiled.set(this, known)
    const text = JSON.stringify(schema)
    if (!known.has(text)) known.set(text, compile.call(this, schema, ...rest))
    return known.get(text)
  }
}
