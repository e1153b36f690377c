/**
 * Catalan, after the Snowball algorithm: removes pronouns attached to verbs, then one ending of a
 * noun or else of a verb, then endings of gender and number, and finally accents.
 */
import { endingTable, longestEnding } from './endings.ts'
import { rewriting } from './letters.ts'
import { syllables } from './regions.ts'

interface EndingRule {
  readonly in: 'r1' | 'r2'
  readonly by: string
}

const cutInR1: EndingRule = { in: 'r1', by: '' }
const cutInR2: EndingRule = { in: 'r2', by: '' }

const pronouns = longestEnding(
  endingTable<EndingRule>([
    `'s 'hi 'ho 'l 'ls -ls -la -les -li vos se nos -nos -us us 'n 'ns -n -ns 'm -me -m -te
     't li lo los me sela selo selas selos le la las les ens ho hi`,
    cutInR1,
  ]),
)

const nounEndings = longestEnding(
  endingTable<EndingRule>(
    [
      `able ables ació adora adors adura aire al all alla allengües als amen ament aments
       ana ancia ancies ant ants ar ari aris assa asses assos atge atiu atius ativa atives
       ativitat ativitats ats atòria atòries bilitat bilitats ble bles cions ció dor dora
       doras dores dors dur dures dís egar ejar ell ella ells enc enca encia encies ent
       ents era eres eria eries ers esa esc eses esos essa et eta ets fer formes ialisme
       ialismes ialista ialistes ible ibles ici icis icte ictes idores idors ient ificar
       il ima imes ims ina ines inia inies ionisme ionista ionistes ions isam isament isme
       ismes issa issem isseu issos ista iste istes ita itar itat itats ites itzar ius iva
       ives ivisme ivitat ivitats ió ls ment ments nces nça or ora ores ors osa oses osos
       ot ota otes ots sfera tori toris triu trius ud uds uts ària àries ència ències ès
       és ìssem ìsseu ìssin ícia ícies íci ícis íinia ínies ís íssem ísseu íssim íssima
       íssimes íssims íssiu ístic ívol ívola ïtat ïtats ó ós`,
      cutInR1,
    ],
    ['acions ada ades', cutInR2],
    [
      'logia logies logía logíes logi logis lógica lógics lógiques',
      { in: 'r2', by: 'log' },
    ],
    ['ic ica ics iques', { in: 'r2', by: 'ic' }],
    ['quíssim quíssims quíssima quíssimes', { in: 'r1', by: 'c' }],
  ),
)

const verbEndings = longestEnding(
  endingTable<EndingRule>(
    [
      `aba abais aban abas ad ada adas ades ado ador adora adores adors ados am amos ams
       an ant ar ara arais aran aras arem aren ares areu aria arian arien aries aremos
       aron arà aràs ará arán arás aré aréis arés aría aríais aríamos arían arías aríem
       aríeu as ase aseis asen ases ass assen asses asseu assim assin assis assiu aste
       asteis at atges ats au ava avem aven aves dre ed eix eixen eixer eixes eixi eixin
       eixis eixo em en ent ents er erass erau eremos eren eresseu erá erán erás eré eréis
       ería eríais eríamos erían erías es esca esques esquen esqui esquin esquis ess essen
       esses esseu essim essin essis ia id ida idas ides ido idos ids ie ien iendo iera
       ierais ieran ieras ieron ies iese ieseis iesen ieses ieu iguem igueu ii imos in
       ineu ini inin inis int io ir ira iran irem iremos iren ires ireu iria irien iries
       irà iràs irá irán irás irè iré iréis iría iríais iríamos irían irías iríem iríeu
       irìem irìeu isc isca isin isis isquen issen isses issim issin issis issiu iste
       isteis it its itz itza itzeu itzi itzis itzo itzà ix ixa ixen ixes ixo ià ió
       iéramos iésemos iï iïn iïs ques re sin sis tzar uda udes ut àrem àren àreu às àssem
       àsseu àssim àssiu àvem àveu ábamos áis áramos ásemos ávem áveu èssim èssiu és éssem
       éssen ésseu éssim éssiu í ía íais íamos ían ías íem íeu ìeu írem íreu ís íssim
       íssiu ïa ïda ïdes ïen ïes ïguem ïgueu ïm ïra ïren ïres ïsc ïsca ïsquen ïsques ïssen
       ïsses ïssin ïssis ït ïu ïx ïxen ïxes ïxo`,
      cutInR1,
    ],
    ['ando', cutInR2],
  ),
)

const lastEndings = longestEnding(
  endingTable<EndingRule>(
    ['a e eu i ir is it itz iu o os s à á é ì í ï ïn ïs ó', cutInR1],
    ['iqu', { in: 'r1', by: 'ic' }],
  ),
)

const withoutAccents = rewriting('áà:a éè:e íìï:i óò:o úü:u ·:.')

export function catalanStem(word: string): string {
  const regions = syllables(word, 'aeiouáàéèíïóòúü')

  function cutOne(text: string, find: typeof pronouns): string | undefined {
    const found = find(text)
    if (found === undefined || found.start < regions[found.action.in]) return undefined
    return text.slice(0, found.start) + found.action.by
  }

  const verb = cutOne(word, pronouns) ?? word
  const stem = cutOne(verb, nounEndings) ?? cutOne(verb, verbEndings) ?? verb
  return withoutAccents(cutOne(stem, lastEndings) ?? stem)
}
