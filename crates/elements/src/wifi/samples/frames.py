"""Makes frames.txt: 802.11 frames as scapy builds them, for the tests of the wireless elements. Run with scapy installed:
python3 frames.py > frames.txt"""

from scapy.all import (
    LLC, SNAP, Dot11, Dot11AssoReq, Dot11AssoResp, Dot11Auth, Dot11Beacon, Dot11Disas, Dot11Elt, Dot11FCS, Dot11ProbeReq,
    Dot11ProbeResp, Dot11QoS, Dot11WEP, PrismHeader, RadioTap, conf, raw,
)

DESTINATION, SOURCE, BSSID = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"
RELAY = "02:00:00:00:00:04"
STATION, EVERYBODY = SOURCE, "ff:ff:ff:ff:ff:ff"
BODY = LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0, code=0x0800) / b"\x45\x01\x02"


def show(name, packet):
    print(f"{name}: {raw(packet).hex()}")


def data(fcfield, one, two, three, four=None, **more):
    return Dot11(type=2, FCfield=fcfield, addr1=one, addr2=two, addr3=three, addr4=four, **more)


def elements(*rates, ssid=b"home", channel=None, extended=()):
    body = Dot11Elt(ID="SSID", info=ssid) / Dot11Elt(ID="Supported Rates", info=bytes(rates))
    if channel is not None:
        body = body / Dot11Elt(ID="DSSS Set", info=bytes([channel])) / Dot11Elt(ID="TIM", info=b"\x00\x01\x00\x00")
    if extended:
        body = body / Dot11Elt(ID="Extended Supported Rates", info=bytes(extended))
    return body


def management(subtype, one, two, three):
    return Dot11(type=0, subtype=subtype, addr1=one, addr2=two, addr3=three)


B_RATES = (0x82, 4, 11, 22)
G_RATES = (0x82, 4, 11, 12, 18, 22, 24, 36)
G_EXTENDED = (48, 72, 96, 108)

show("data nods", data(0, DESTINATION, SOURCE, BSSID) / BODY)
show("data tods", data(1, BSSID, SOURCE, DESTINATION) / BODY)
show("data fromds", data(2, DESTINATION, BSSID, SOURCE) / BODY)
# What WifiEncap makes of BODY and RELAY: the Ethernet source sends it.
show("data wds", data(3, RELAY, SOURCE, DESTINATION, SOURCE) / BODY)
show("data relayed", data(3, RELAY, BSSID, DESTINATION, SOURCE) / BODY)
show("data llc", data(1, BSSID, SOURCE, DESTINATION) / LLC(dsap=0x42, ssap=0x42, ctrl=3) / bytes(range(9)))
show("data qos", data(1, BSSID, SOURCE, DESTINATION, subtype=8) / Dot11QoS() / BODY)
show("data retry", data(0x0A, DESTINATION, BSSID, SOURCE, SC=5 << 4 | 2) / BODY)
show("ack", Dot11(type=1, subtype=13, addr1=DESTINATION, ID=0x0102))

show("beacon", management(8, EVERYBODY, BSSID, BSSID) / Dot11Beacon(beacon_interval=100, cap="ESS")
     / elements(*G_RATES, channel=3, extended=G_EXTENDED))
show("beacon privacy", management(8, EVERYBODY, BSSID, BSSID) / Dot11Beacon(beacon_interval=200, cap="ESS+privacy")
     / elements(*B_RATES, ssid=b"", channel=11))
show("probe request", management(4, EVERYBODY, STATION, EVERYBODY) / Dot11ProbeReq() / elements(*B_RATES))
show("probe request any", management(4, EVERYBODY, STATION, EVERYBODY) / Dot11ProbeReq() / elements(*B_RATES, ssid=b""))
show("probe request other", management(4, EVERYBODY, STATION, EVERYBODY) / Dot11ProbeReq()
     / elements(*B_RATES, ssid=b"other"))
show("probe response", management(5, STATION, BSSID, BSSID) / Dot11ProbeResp(beacon_interval=100, cap="ESS")
     / elements(*G_RATES, channel=3, extended=G_EXTENDED))
show("authentication request", management(11, BSSID, STATION, BSSID) / Dot11Auth(algo=0, seqnum=1, status=0))
show("authentication response", management(11, STATION, BSSID, BSSID) / Dot11Auth(algo=0, seqnum=2, status=0))
show("authentication shared", management(11, BSSID, STATION, BSSID) / Dot11Auth(algo=1, seqnum=1, status=0))
show("association request", management(0, BSSID, STATION, BSSID) / Dot11AssoReq(cap="ESS", listen_interval=100)
     / elements(*B_RATES))
show("association response", management(1, STATION, BSSID, BSSID) / Dot11AssoResp(cap="ESS", status=0, AID=0xC000)
     / Dot11Elt(ID="Supported Rates", info=bytes(B_RATES)))
show("association refused", management(1, STATION, BSSID, BSSID) / Dot11AssoResp(cap="ESS", status=12, AID=0)
     / Dot11Elt(ID="Supported Rates", info=bytes(B_RATES)))
show("disassociation", management(10, STATION, BSSID, BSSID) / Dot11Disas(reason=8))

frame = data(1, BSSID, SOURCE, DESTINATION) / BODY
show("radiotap", RadioTap(present="TSFT+Flags+Rate+Channel+dBm_AntSignal+dBm_AntNoise+Antenna", mac_timestamp=1,
                          Rate=5.5, ChannelFrequency=2422, ChannelFlags="CCK+2GHz", dBm_AntSignal=-40,
                          dBm_AntNoise=-90, Antenna=1) / frame)
show("data qos padded", RadioTap(present="Flags", Flags="pad") / data(1, BSSID, SOURCE, DESTINATION, subtype=8)
     / Dot11QoS() / b"\0\0" / BODY)
show("data tods padded", RadioTap(present="Flags", Flags="pad") / frame)
show("radiotap fcs", RadioTap(present="Flags+Rate+TXFlags", Flags="FCS", Rate=1, TXFlags=0)
     / Dot11FCS(type=2, FCfield=1, addr1=BSSID, addr2=SOURCE, addr3=DESTINATION) / BODY)
show("prism", PrismHeader(msgcode=0x44, len=144, dev=b"wlan0", rssi=50, noise=7, rate=22, istx=0) / frame)

for name, key in [("40", "abcde"), ("104", "abcdefghijklm")]:
    conf.wepkey = key
    encrypted = data(0x41, BSSID, SOURCE, DESTINATION) / Dot11WEP(iv=b"\x11\x22\x33", keyid=0) / BODY
    show(f"wep {name}", encrypted)

# scapy writes the byte with the key's number as it is told.
conf.wepkey = "abcde"
show("wep qos", data(0x41, BSSID, SOURCE, DESTINATION, subtype=8) / Dot11QoS()
     / Dot11WEP(iv=b"\x11\x22\x33", keyid=1 << 6) / BODY)
