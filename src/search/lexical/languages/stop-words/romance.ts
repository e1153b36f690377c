/** Stop words of Romance languages. */
const portuguese = `a ao aos aquela aquelas aquele aqueles aquilo as até com como da das
  de dela delas dele deles depois do dos e ela elas ele eles em entre era eram essa essas
  esse esses esta estamos estar estas estava estavam este esteja estes esteve estive
  estiver estou está estão eu foi fomos for fora foram fosse fossem fui haja havia hei
  houve há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito na nas nem
  no nos nossa nossas nosso nossos num numa não nós o os ou para pela pelas pelo pelos por
  qual quando que quem se seja sejam sem ser será serão seria seriam seu seus somos sou
  sua suas são só também te tem temos tenha tenho ter terá teu teus teve tinha tinham tive
  tu tua tuas tém têm um uma umas uns você vocês vos à às é`

export const romance: Readonly<Record<string, string>> = {
  french: `ai aie aient aies ait as au aura aurai auraient aurais aurait auras aurez
    auriez aurions aurons auront aux avaient avais avait avec avez aviez avions avons
    ayant ayez ayons c ce ceci cela ces cet cette d dans de des du elle elles en es est et
    eu eue eues eurent eus eusse eussent eut eux eûmes eût fut furent fus fusse fussent
    fûmes fût ici il ils j je l la le les leur leurs lui m ma mais me mes moi mon même n
    ne nos notre nous on ont ou où par pas pour qu que quel quelle quelles quels qui s sa
    sans se sera serai seraient serais serait seras serez seriez serions serons seront ses
    si soi soient sois soit sommes son sont soyez soyons suis sur t ta te tes toi ton tu
    un une vos votre vous y à étaient étais était étant étiez étions êtes a`,

  spanish: `a al algo algunas algunos ante antes aquel aquella aquellas aquello aquellos
    como con contra cual cuando cuyo de del desde donde durante e el ella ellas ellos en
    entre era eran eras eres es esa esas ese eso esos esta estaba estaban estamos estar
    estas este esto estos estoy estuve estuvo está están fue fueron fui ha haber había
    habían hace han has hasta hay he hemos hubo la las le les lo los me mi mis mucho
    muchos muy más mí mía míos nada ni no nos nosotras nosotros nuestra nuestras nuestro
    nuestros o os otra otras otro otros para pero poco por porque pues que quien quienes
    qué se sea sean ser será sería si sido sin sobre sois somos son soy su sus suya suyo
    sí también tanto te tendrá tenemos tener tengo tenía ti tiene tienen todo todos tu tus
    tuvo tú u un una unas uno unos vosotras vosotros vuestra vuestro y ya yo él éramos`,

  italian: `a abbia abbiamo ad agli ai al all alla alle allo anche avere aveva avevano
    avete c che chi ci coi col come con contro cui d da dagli dai dal dall dalla dalle
    dallo degli dei del dell della delle dello di dove e ed era erano essendo essere fosse
    fossero fu furono gli ha hai hanno ho i il in io l la le lei li lo loro lui ma mi mia
    mie miei mio ne negli nei nel nell nella nelle nello noi non nostra nostre nostri
    nostro o od per perché più quale quali quando quanta quante quanti quanto quella
    quelle quelli quello questa queste questi questo sarà saranno se sei si sia siamo
    siano siete sono sta su sua sue sugli sui sul sull sulla sulle sullo suo suoi ti tra
    tu tua tue tuo tuoi tutti tutto un una uno vi voi vostra vostre vostri vostro è`,

  portuguese,

  brazilian: `${portuguese} ainda antes cada cujo cuja desde dessa desse desta deste disso
    disto la lo nessa nesse nesta neste onde outra outras outro outros pois porque quais
    sempre sob sobre todo toda todos todas vos vossa vosso`,

  catalan: `a al algun alguna algunes alguns als altra altre altres amb aquell aquella
    aquelles aquells aquest aquesta aquestes aquests així això allò ara aquí cada com
    contra d de del dels des doncs durant el ella elles ells els em en encara ens entre
    era eren eres es esta estan estava et està estàs ets fins ha han has havia he hem heu
    hi ho i ja jo l la les li llur lo los m ma mateix me mentre meu meus meva meves molt
    molta moltes molts més n ne ni no nosaltres nostra nostre nostres o on pel pels per
    perquè però poc pot qual quals quan quant que qui quin quina quines quins què s sa se
    sense ser ses seu seus seva seves si sobre som son sota sou soc sóc són t ta també tan
    tant te teu teus teva teves tot tota totes tots tu un una unes uns us va vaig van vos
    vosaltres vostra vostre vostres érem és`,

  galician: `a ao aos aquel aquela aquelas aqueles aquilo as aínda ben cando che co coa
    coas comigo como con connosco contigo convosco cos cun cunha cunhas cuns da das de del
    dela delas deles desde do dos dun dunha dunhas duns e el ela elas eles en entre era
    eran esa esas ese eses esta estaba estar estas este estes estou está están eu foi
    foron fun había hai houbo iso isto la las lle lles lo los mais me meu meus min miña
    miñas moi máis na nas nin no non nos nosa nosas noso nosos nun nunha nunhas nuns nós o
    os ou para pero pois pola polas polo polos por porque que quen se sen ser seu seus
    sexa sido sobre son súa súas tamén tan te ten ter teu teus teñen teño ti tiña túa túas
    un unha unhas uns vos vosa vosas voso vosos vós xa á é ó ós`,

  romanian: `a abia acea aceasta această aceea acei aceia acel acela acele acelea acest
    acesta aceste acestea acestei acestor acestui acești aceștia acolo acum ai aia aici al
    ale alea alt alta altă alte altul am ar are asemenea asta astea astfel asupra atunci
    au avea avem aveți avut azi aș așa ați ba ca care ce cea cei cel cele celor ceva chiar
    cine cineva cu cui cum când cât câte câți că căci cărei căror cărui către da dacă dar
    datorită de deci deja deși din dintre doar după ea ei el ele era eram este eu ești fi
    fie fiecare fiind fost fără i iar ii il în îi îl îmi înainte între își îți la le li
    lor lui lângă m mai mea mei mele meu mi mie mine mă ne nici nimic niște noastre
    noastră noi nostru nouă noștri nu numai o ori orice oricine pe pentru peste până poate
    pot prea prin s sa sale sau se spre sub sunt suntem sunteți sînt să săi său ta tale te
    toate toată tot totuși toți tu tăi tău un una unde unei unele unii unor unui v va vă
    vi voastre voastră voi vom vor vostru voștri vouă vreo vreun ăla ăsta și ți ție`,
}
