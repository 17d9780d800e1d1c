// access-point.click: a wireless access point without a key, which connects its stations to a wired network.
//
//                .--> AssociationResponder --.
//                |--> BeaconSource ----------|
//    wireless ---|--> OpenAuthResponder -----|--> Queue -> RadiotapEncap -> wireless
//                |                           |
//                |         MadwifiRate <- WifiEncap <---.
//                '--> WifiDecap -------------------> EtherSwitch <--> wired
//
// It beacons, answers probes, lets every station authenticate and associate, and bridges their frames. Stations reach
// the wired network but not each other. Nothing is encrypted and nobody is refused: use it where that is wanted.
//
// The wireless card must be in monitor mode, on the channel that is given here, and able to send what it is given:
//
//    sudo iw dev wlan0 set monitor none && sudo iw dev wlan0 set channel 3
//    sudo clickwork run examples/access-point.click WIRELESS=wlan0 WIRED=eth0 SSID=home
//
// What rates stations are sent to with, while it runs with '-p 7777':  clickwork ctl 7777 read rate.rates

define($WIRELESS wlan0, $WIRED eth0, $SSID home, $BSSID 02:00:00:00:00:03, $CHANNEL 3);

network :: WirelessInfo(SSID $SSID, BSSID $BSSID, CHANNEL $CHANNEL);
rates :: AvailableRates(DEFAULT 2 4 11 22);
bridge :: EtherSwitch;

// To the air: what the access point itself says goes at 1 Mbit/s, data as fast as it gets through.
air :: Queue(1000) -> RadiotapEncap -> ToDevice($WIRELESS);
management :: SetTXRate(2) -> air;
rate :: MadwifiRate(OFFSET 4, RT rates) -> air;

// From the air: frames that came back because they were sent tell how that went. Of the others, those to this access
// point or to all count.
FromDevice($WIRELESS, PROMISC true, SNIFFER false)
    -> RadiotapDecap
    -> FilterPhyErr
    -> sent :: FilterTX
    -> HostEtherFilter($BSSID, OFFSET 4)
    -> WifiDupeFilter
    -> kinds :: Classifier(0/00%fc, 0/40%fc, 0/b0%fc, 0/08%4c 1/01%03, -);
sent [1] -> [1] rate [1] -> Discard;

kinds [0] -> AssociationResponder(WIRELESS_INFO network, RT rates) -> management;
kinds [1] -> BeaconSource(WIRELESS_INFO network, RT rates) -> management;
kinds [2] -> OpenAuthResponder(WIRELESS_INFO network) -> management;
kinds [3] -> WifiDecap -> [0] bridge;
kinds [4] -> Discard;

bridge [0] -> WifiEncap(2, WIRELESS_INFO network) -> [0] rate;

FromDevice($WIRED, PROMISC true, SNIFFER false) -> [1] bridge;
bridge [1] -> Queue(1000) -> ToDevice($WIRED);
