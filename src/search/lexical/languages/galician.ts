/**
 * Galician, after RSLP adapted from Portuguese: words in Portuguese spelling are first respelled.
 * Exceptions cover common words only; the original lists are much longer.
 */
import { cut, leaving, onlyOver, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

/** Removes plurals only. */
export const galicianMinimalStem: StemmerStep = onlyOver(
  2,
  cut(
    leaving(1, 'ns', 'n', 'luns'),
    leaving(3, 'ós ões', 'ón'),
    leaving(1, 'ães', 'ão', 'mães magalhães'),
    leaving(2, 'ais áis', 'al', 'cais tais mais pais ademais máis ademáis'),
    leaving(2, 'éis eis', 'el'),
    leaving(2, 'óis ois', 'ol', 'escornabois dous'),
    leaving(2, 'ís is', 'il', 'país pais'),
    leaving(2, 'les', 'l', 'ingles marselles nápoles'),
    leaving(3, 'res', 'r', 'baleares cáceres londres mércores venres pires'),
    leaving(2, 'ces zes', 'z'),
    leaving(3, 'ises', 'z'),
    leaving(1, 'ás', 'al', 'más'),
    leaving(2, 'ses', 's'),
    leaving(
      2,
      's',
      '',
      `aliás ambas ambos após asturias atenas atrás através canarias cangas depois francês
       férias gas lapis lápis luns mais martes mas menos moisés país pires tres xoves`,
    ),
  ),
)

const respelled = cut(
  leaving(5, 'íssimo', 'ísimo'),
  leaving(5, 'íssima', 'ísima'),
  leaving(4, 'aço', 'azo'),
  leaving(4, 'aça', 'aza'),
  leaving(4, 'uça', 'uza'),
  leaving(2, 'lhar', 'llar'),
  leaving(2, 'lher', 'ller'),
  leaving(2, 'lhor', 'llor'),
  leaving(1, 'lho', 'llo'),
  leaving(2, 'nhar', 'ñar'),
  leaving(2, 'nhor', 'ñor'),
  leaving(1, 'nho', 'ño'),
  leaving(1, 'nha', 'ña'),
  leaving(3, 'ário', 'ario'),
  leaving(3, 'ária', 'aria'),
  leaving(2, 'able ável', 'ábel'),
  leaving(2, 'ible ível', 'íbel'),
  leaving(2, 'çom', 'ción'),
  leaving(2, 'agem age', 'axe'),
  leaving(3, 'ão', 'ón'),
  leaving(1, 'ao au', 'án'),
  leaving(3, 'om', 'ón'),
  leaving(2, 'm', 'n'),
)

const adverb = cut(leaving(4, 'mente', '', 'experimente vehemente sedimente'))

const augmentative = cut(
  leaving(5, 'dísimo dísima'),
  leaving(3, 'bilísimo bilísima ísimo ísima ésimo ésima'),
  leaving(4, 'érrimo érrima'),
  leaving(2, 'ana', '', 'banana membrana persiana pestana porcelana sábana ventana'),
  leaving(3, 'án', '', 'ademán faisán furacán galán titán verán volcán'),
  leaving(4, 'azo', '', 'abrazo balazo espazo pedazo regazo'),
  leaving(3, 'aza', '', 'ameaza cabaza coiraza melaza mordaza rapaza'),
  leaving(4, 'allo', '', 'traballo'),
  leaving(4, 'alla'),
  leaving(3, 'arra', '', 'cigarra'),
  leaving(3, 'astro astra', '', 'canastro canastra pilastra'),
  leaving(4, 'elo', '', 'caramelo castelo coitelo desvelo farelo martelo modelo'),
  leaving(3, 'eta', '', 'atleta cometa gaceta planeta'),
  leaving(3, 'ete', '', 'banquete billete bufete filete machete'),
  leaving(3, 'ica', '', 'botica dinámica física gráfica túnica'),
  leaving(3, 'ico'),
  leaving(3, 'exo', '', 'azulexo convexo desexo manexo'),
  leaving(3, 'exa', '', 'bandexa envexa igrexa'),
  leaving(3, 'iño', 'o', 'camiño cariño padriño sobriño veciño viciño'),
  leaving(3, 'iña', 'a', 'campiña espiña fariña'),
  leaving(3, 'ito ita'),
  leaving(3, 'oide', '', 'asteroide celuloide esteroide'),
  leaving(3, 'ola', '', 'argola cebola consola escola esmola'),
  leaving(3, 'olo', '', 'desconsolo subsolo zócolo'),
  leaving(3, 'ote', '', 'camarote capote escote lingote rebote'),
  leaving(3, 'ota', '', 'compota derrota pelota remota'),
  leaving(3, 'cho cha', '', 'borracho borracha remolacha'),
  leaving(4, 'uco', '', 'caduco estuco'),
  leaving(3, 'uzo uza', '', 'chapuza'),
  leaving(3, 'uxo uxa', '', 'debuxo influxo refluxo cartuxa coruxa'),
  leaving(3, 'ello ella', '', 'concello consello espello botella grosella parella'),
)

const noun = cut(
  leaving(3, 'dade', '', 'calidade'),
  leaving(2, 'ificar'),
  leaving(3, 'eiro', '', 'braseiro canteiro carneiro carteiro'),
  leaving(3, 'eira', '', 'cabeleira canteira'),
  leaving(3, 'ario', '', 'armario calcario salario'),
  leaving(3, 'aría', '', 'libraría'),
  leaving(3, 'aria ístico ista', '', 'ciclista tenista'),
  leaving(2, 'ado', '', 'grado agrado'),
  leaving(2, 'ato'),
  leaving(3, 'ido ida', '', 'cándido decidido marido rápido dúbida medida'),
  leaving(3, 'ída ído'),
  leaving(3, 'udo uda', '', 'estudo escudo'),
  leaving(3, 'ada', '', 'pitada'),
  leaving(3, 'dela ela', '', 'candela canela capela novela panela parcela'),
  leaving(2, 'ábel', '', 'afábel fiábel'),
  leaving(2, 'íbel', '', 'posíbel imposíbel'),
  leaving(
    3,
    'nte',
    '',
    'adiante elefante frecuente gigante instante oriente permanente restaurante',
  ),
  leaving(3, 'ncia nza'),
  leaving(3, 'acia icia', '', 'audacia farmacia caricia malicia milicia noticia pericia'),
  leaving(3, 'iza', '', 'baliza preguiza'),
  leaving(3, 'exar'),
  leaving(2, 'ación'),
  leaving(3, 'ición', '', 'condición nutrición petición posición'),
  leaving(3, 'ción', 't'),
  leaving(3, 'sión', 's', 'abrasión alusión'),
  leaving(2, 'azón', '', 'armazón'),
  leaving(3, 'ón', '', 'acordeón bombón calzón cantón cañón ciclón cupón versión'),
  leaving(3, 'ona', '', 'abandona amazona hormona maratona neurona'),
  leaving(3, 'oa', '', 'canoa coroa lagoa persoa táboa'),
  leaving(3, 'aco aca', '', 'barraca casaca estaca pataca resaca'),
  leaving(
    4,
    'al',
    '',
    'afinal animal desleal estatal fiscal formal liberal persoal postal virtual visual',
  ),
  leaving(2, 'dor'),
  leaving(3, 'tor', '', 'autor motor pastor pintor'),
  leaving(2, 'or', '', 'asesor favor mellor rigor sensor tambor tumor'),
  leaving(3, 'ora', '', 'aurora demora'),
  leaving(3, 'axe', '', 'coraxe garaxe homenaxe pasaxe paisaxe viaxe'),
  leaving(3, 'dizo engo ego eza ez', '', 'entrego beleza acidez'),
  leaving(3, 'oso osa', '', 'fogoso precioso preciosa mucosa'),
  leaving(3, 'ume', '', 'costume legume perfume'),
  leaving(3, 'ura', '', 'costura'),
  leaving(3, 'iñar'),
  leaving(3, 'il', '', 'abril barril brasil candil civil difícil fácil fusil hábil hostil'),
  leaving(4, 'esco isco'),
  leaving(3, 'ivo', '', 'pasivo positivo relativo'),
)

const verb = cut(
  leaving(2, 'abade ábade abamo ábamo aban aba ache ade'),
  leaving(2, 'arade árade aramo áramo aran arán aron ara ará are', '', 'prepara prepare'),
  leaving(2, 'ariade aríade ariamo aríamo arian arían aria aría'),
  leaving(2, 'aremo arei aren arde armo'),
  leaving(2, 'asede ásede asemo ásemo asen ase ássemo assen asse aste avan ava'),
  leaving(2, 'ando amo an ai emo'),
  leaving(4, 'izar ear', '', 'organizar nuclear'),
  leaving(2, 'ar', '', 'azar bazar patamar'),
  leaving(1, 'erade érade eramo éramo eran erán eron era erá ere', '', 'espera espere'),
  leaving(1, 'eriade eríade eriamo eríamo erian erían eria ería'),
  leaving(1, 'eremo erei eren erde ermo esede ésede esemo ésemo esen ese essen esse este'),
  leaving(1, 'endo iade íade iamo íamo ian ían ía iche'),
  leaving(1, 'ede', '', 'rede parede vostede'),
  leaving(1, 'ide er eu'),
  leaving(3, 'irade írade iramo íramo iran irán iron ira irá ire', '', 'fronteira'),
  leaving(3, 'iriade iríade iriamo iríamo irian irían iria iría'),
  leaving(3, 'iremo irei iren irde irmo isede ísede isemo ísemo isen ise issen isse iste'),
  leaving(3, 'indo ondo imo omo ir iu ou ei'),
  leaving(2, 'en'),
  leaving(3, 'in'),
  leaving(2, 'ia'),
  leaving(2, 'i'),
)

const lastVowel = cut(
  leaving(2, 'gue', 'g', 'dengue merengue'),
  leaving(2, 'que', 'c', 'bloque bosque buque'),
  leaving(3, 'a e o â ã ê ô á é ó i', '', 'amanhã'),
)

const withoutAccents = rewriting('á:a éê:e í:i ó:o ú:u')

export function galicianStem(word: string): string {
  let plain = adverb(respelled(galicianMinimalStem(word)))
  // The loop terminates, because each round shortens the word.
  for (
    let next = augmentative(plain);
    next.length < plain.length;
    next = augmentative(plain)
  )
    plain = next
  const withoutNoun = noun(plain)
  const stem = withoutNoun === plain ? verb(plain) : withoutNoun
  return withoutAccents(lastVowel(stem))
}
