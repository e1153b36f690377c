/** Stop words of Basque, Indonesian, Irish, Turkish and the Finno-Ugric languages. */
export const otherEuropean: Readonly<Record<string, string>> = {
  basque: `al asko arabera baina bat batean batek bati batzuei batzuek batzuetan batzuk
    bera beraiek berau berauek bere berori beroriek beste bezala da dago dira ditu du dute
    edo egin ere eta eurak ez gainera gu gutxi guzti haiei haiek haietan hainbeste hala
    han handik hango hara hari hark hartan hau hauei hauek hauetan hemen hemendik hemengo
    hi hona honek honela honetan honi hor hori horiei horiek horietan horko horra horrek
    horrela horretan horri hortik hura izan ni noiz nola non nondik nongo nor nora ze zein
    zen zenbait zenbat zer zergatik ziren zituen zu zuek zuen zuten`,

  estonian: `aga ei ega et ette ja jah jo ju juba juurde järel ka kas kes kelle keda
    kellele koos kuhu kui kuid kuidas kuni kus kust kõik kõige küll ma mida midagi mille
    millal mina mind minu minul minule mis miks mitte mu mul mulle me meid meie meil meile
    muidu nad neid neile nende nemad need nii ning nüüd ole oled olema oleme olen olete
    oli olid olime olin olla olnud oma omal on peale pole puhul sa seal seda see sees sel
    selle sellel selles sellest seni siia siin siis sina sind sinu sinul su sul sulle ta
    tal talle tema temal teda te teid teie teil teile toda too või veel vaid üle üks ühe
    ära`,

  finnish: `ei eikä eivät emme en et ette että he heidän heidät heihin heille heillä
    heiltä heissä heistä heitä hän häneen hänelle hänellä häneltä hänen hänessä hänestä
    hänet häntä itse ja johon joiden joihin joiksi joilla joille joilta joina joissa
    joista joita joka joksi jolla jolle jolta jona jonka jos jossa josta jota jotka kanssa
    keiden keitä keneen kenelle kenellä keneltä kenen kenet ketkä ketä koska kuin kuka kun
    me meidän meidät meihin meille meillä meiltä meissä meistä meitä mihin mikä miksi
    mille millä miltä minkä minua minulla minulle minulta minun minussa minusta minut
    minuun minä missä mistä mitkä mitä mukaan mutta muu muut myös ne niiden niihin niiksi
    niille niillä niiltä niin niissä niistä niitä noiden noihin noilla noille noilta
    noissa noista noita nuo nyt näiden näihin näille näillä näiltä näissä näistä näitä
    nämä ole olemme olen olet olette oli olimme olin olisi olisimme olisin olisit olisivat
    olit olitte olivat olla olleet ollut on ovat poikki se sekä sen siihen siinä siitä
    siksi sille sillä siltä sinua sinulla sinulle sinulta sinun sinussa sinusta sinut
    sinuun sinä sitä tai te teidän teidät teihin teille teillä teiltä teissä teistä teitä
    tuo tuohon tuolla tuolle tuolta tuon tuossa tuosta tuota tähän tälle tällä tältä tämä
    tämän tänä tässä tästä tätä vaan vai vaikka`,

  hungarian: `a abban ahhoz ahol aki akik akkor alatt amely amelyek amelyekben amelyeket
    amelyet amelynek ami amikor amit amíg annak arra arról az azok azon azonban azt aztán
    azután azzal azért be benne bár csak de e egy egyes egyik egyéb együtt el ellen elé én
    és ez ezek ezen ezért ezt ezzel fel felé ha hanem hogy hogyan hiszen ide igen ill
    illetve ilyen ilyenkor is itt kell kellett keresztül ki kívül között közül le legalább
    lehet lehetett lenne lenni lesz lett maga magát majd már más másik meg mellett mely
    melyek mert mi mikor milyen mind minden mindenki mindent mindig mint mintha mit mivel
    miért most nagyon ne nekem neki nem nincs néha néhány nélkül olyan ott össze ő ők őket
    pedig persze rá s saját sem semmi számára szemben szerint szinte talán tehát te ti
    tovább továbbá több ugyanis után utána vagy vagyis vagyok valaki valami valamint való
    van vannak velük vele vissza viszont volna volt voltak voltam voltunk által általában
    át úgy`,

  indonesian: `ada adalah adanya agar akan akankah aku anda andai antara apa apabila
    apakah atas atau ataupun bagi bagaimana bahkan bahwa banyak beberapa begini begitu
    belum berbagai boleh bukan bukankah dalam dan dapat dari daripada demi demikian dengan
    di dia dimana hal hanya harus hingga ia ialah ini itu jika jikalau juga kah kalau
    kalian kami kamu karena ke kepada ketika kini kita lagi lah lain lalu maka mana masih
    maupun melainkan mereka mungkin namun nya oleh pada padahal para pernah pula pun saat
    saja sambil sampai sang sangat saya se seorang sebab sebagai sebagaimana sebelum
    sebuah secara sedang sehingga sejak selain selama seluruh semua sendiri seperti seraya
    serta sesuatu sesudah setelah setiap si siapa suatu sudah supaya tak tanpa tapi telah
    tentang terhadap tetap tetapi tiap tidak untuk walau walaupun yaitu yakni yang`,

  irish: `a ach ag agus an aon ar arna as atá ba bhúr chomh chuig chun cois cén cé céard
    cá d dar de den do don dtí dá dár dó faoi faoin fara gach gan go gur i iad idir in ina
    ins inár is le leis lena lenár m mar mo muid mé mó na nach ná ní níl nó os roimh sa
    siad sibh sinn sna sé sí tar thar thú trí trína trínár tú um ár é éis í ó ón óna ónár`,

  turkish: `acaba ama ancak aslında az bana bazı belki ben benden beni benim bile bir
    biraz biri birkaç birçok birşey biz bizden bize bizi bizim bu buna bunda bundan bunlar
    bunları bunların bunu bunun burada böyle çok çünkü da daha dahi de defa değil diye
    diğer dolayı dolayısıyla edecek eden ederek edilecek ediliyor edilmesi ediyor eğer en
    etmesi etti ettiği ettiğini gibi göre halen hangi hatta hem henüz hep hepsi her
    herhangi herkesin hiç hiçbir için ile ilgili ise işte itibaren kadar karşın kendi
    kendilerine kendini kendisi kendisine kendisini ki kim kimden kime kimi kimse mi mı mu
    mü nasıl ne neden nedenle nerde nerede nereye niye niçin o olan olarak oldu olduğu
    olduğunu olmadı olmak olması olmayan olmaz olsa olsun olup olur olursa oluyor ona
    ondan onlar onlardan onları onların onu onun öyle oysa pek rağmen sadece sanki sen
    senden seni senin siz sizden sizi sizin şey şeyi şeyler şu şuna şunda şundan şunu
    tarafından tüm üzere var vardı ve veya ya yani yapacak yapılan yapılması yapıyor
    yapmak yaptı yaptığı yaptığını yerine yine yoksa zaten`,
}
