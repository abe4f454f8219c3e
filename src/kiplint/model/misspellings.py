"""Misspellings that are common in technical English, and what they mean.

They are our own, so that a set without another use of the word, and an installation without codespell, has some.
"""

from typing import Final

_PAIRS: Final = """
accomodate=accommodate acheive=achieve acknowlege=acknowledge acknowleged=acknowledged adress=address adresses=addresses
agressive=aggressive alredy=already apropriate=appropriate aquire=acquire aquired=acquired arbitary=arbitrary
asignment=assignment asynchronus=asynchronous asyncronous=asynchronous authenication=authentication
authetication=authentication availabe=available availablity=availability avaliable=available begining=beginning
beleive=believe catagory=category cofiguration=configuration comitted=committed commited=committed commiting=committing
committ=commit comparision=comparison compatability=compatibility compatable=compatible completly=completely
concensus=consensus conection=connection configration=configuration configuation=configuration consistancy=consistency
coodinator=coordinator coordiantor=coordinator cordinator=coordinator correspoding=corresponding curently=currently
decription=description definately=definitely delimeter=delimiter depreciated=deprecated depricated=deprecated
desciption=description descripton=description developement=development diffrent=different dissapear=disappear
duplciate=duplicate ealiest=earliest embeded=embedded encouter=encounter endoint=endpoint enviroment=environment
equivilent=equivalent exising=existing existance=existence existant=existent explicitely=explicitly explicity=explicitly
expresion=expression extention=extension feild=field feilds=fields follwing=following foriegn=foreign forwaded=forwarded
futher=further garantee=guarantee garanteed=guaranteed gaurantee=guarantee guarentee=guarantee gurantee=guarantee
guranteed=guaranteed hearbeat=heartbeat heartbaet=heartbeat heirarchy=hierarchy idenfitier=identifier
identifer=identifier identifiter=identifier immediatly=immediately implemention=implementation inclusing=including
incomming=incoming inconsistant=inconsistent indentifier=identifier independant=independent indetifier=identifier
infomation=information initalize=initialize initalized=initialized initialy=initially interupt=interrupt
interupted=interrupted intial=initial lenght=length maintainance=maintenance managment=management maximun=maximum
mechansim=mechanism memeber=member memebers=members messsage=message metdata=metadata milisecond=millisecond
miliseconds=milliseconds millisecons=milliseconds minimun=minimum mismach=mismatch neccessary=necessary
necesary=necessary negociate=negotiate nonexistant=nonexistent occassion=occasion occurance=occurrence occured=occurred
occurence=occurrence occuring=occurring ommited=omitted ommitted=omitted paramater=parameter paramter=parameter
parition=partition paritions=partitions partion=partition partions=partitions partitition=partition
partititions=partitions partiton=partition partitons=partitions perfom=perform performace=performance
permision=permission persistant=persistent posible=possible preceeding=preceding prefered=preferred presense=presence
previuos=previous priviledge=privilege proccess=process proccessed=processed protcol=protocol publically=publicly
quorom=quorum reasign=reassign reassigment=reassignment rebalnce=rebalance recieve=receive recieved=received
recieves=receives recomend=recommend recomended=recommended refered=referred referrence=reference relevent=relevant
remaing=remaining repersent=represent replcia=replica replicaton=replication reponse=response reponses=responses
reqest=request reqeust=request requried=required requst=request responce=response respone=response resposne=response
retreive=retrieve retreived=retrieved retrive=retrieve retrived=retrieved retruned=returned retuned=returned
retured=returned secruity=security sepcified=specified seperate=separate seperated=separated seperately=separately
seperator=separator similiar=similar snaphot=snapshot snapshoot=snapshot specfied=specified specifed=specified
specifiy=specify subcribed=subscribed subscribtion=subscription succeded=succeeded succesful=successful
succesfully=successfully successfull=successful successfuly=successfully sucess=success sucessful=successful
sucessfully=successfully suport=support suported=supported supress=suppress synchronus=synchronous
temporarly=temporarily thier=their threshhold=threshold throtle=throttle throttel=throttle timestmap=timestamp
timstamp=timestamp transacion=transaction transactinal=transactional transacton=transaction transation=transaction
transations=transactions transfered=transferred trasaction=transaction truely=truly unavailble=unavailable
unecessary=unnecessary unkonwn=unknown unkown=unknown unneccessary=unnecessary unsuccesful=unsuccessful untill=until
usefull=useful verion=version verions=versions verison=version verisons=versions versoin=version vesion=version
visable=visible wheter=whether whith=with wich=which writen=written writting=writing yeild=yield
"""
COMMON: Final[dict[str, str]] = dict(pair.split("=") for pair in _PAIRS.split())
