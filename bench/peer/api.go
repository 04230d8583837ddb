package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What this operator uses of the two CRDs. What it does not know of spec stays: spec is never written.

var groupVersion = schema.GroupVersion{Group: "mooring.dev", Version: "v1alpha1"}

type Request struct {
	URL    string      `json:"url,omitempty"`
	Action string      `json:"action"`
	Status string      `json:"status"`
	Since  metav1.Time `json:"since"`
}

type Status struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ID                 string             `json:"id,omitempty"`
	State              string             `json:"state,omitempty"`
	Parents            map[string]string  `json:"parents,omitempty"`
	Request            *Request           `json:"request,omitempty"`
}

func (in *Status) deepCopyInto(out *Status) {
	*out = *in
	out.Conditions = append([]metav1.Condition(nil), in.Conditions...)
	if in.Parents != nil {
		out.Parents = make(map[string]string, len(in.Parents))
		for key, value := range in.Parents {
			out.Parents[key] = value
		}
	}
	if in.Request != nil {
		request := *in.Request
		out.Request = &request
	}
}

// Object is one of the two kinds.
type Object interface {
	client.Object
	status() *Status
}

type DatacenterSpec struct {
	Name        string `json:"name,omitempty"`
	Location    string `json:"location,omitempty"`
	Description string `json:"description,omitempty"`
}

type DatacenterStatus struct {
	Status   `json:",inline"`
	Location string `json:"location,omitempty"`
	Version  int64  `json:"version,omitempty"`
}

type Datacenter struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DatacenterSpec   `json:"spec,omitempty"`
	Status            DatacenterStatus `json:"status,omitempty"`
}

func (d *Datacenter) status() *Status { return &d.Status.Status }

func (d *Datacenter) DeepCopyObject() runtime.Object {
	out := *d
	d.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	d.Status.Status.deepCopyInto(&out.Status.Status)
	return &out
}

type DatacenterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Datacenter `json:"items"`
}

func (l *DatacenterList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Datacenter, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Datacenter)
	}
	return &out
}

type Reference struct {
	Name string `json:"name"`
}

type BootVolume struct {
	Name       string `json:"name,omitempty"`
	Size       int64  `json:"size,omitempty"`
	Type       string `json:"type,omitempty"`
	ImageAlias string `json:"imageAlias,omitempty"`
}

type NIC struct {
	Name string `json:"name,omitempty"`
	LAN  int64  `json:"lan,omitempty"`
	DHCP *bool  `json:"dhcp,omitempty"`
}

type ServerSpec struct {
	DatacenterRef Reference   `json:"datacenterRef,omitempty"`
	Name          string      `json:"name,omitempty"`
	Cores         int64       `json:"cores,omitempty"`
	RAM           int64       `json:"ram,omitempty"`
	BootVolume    *BootVolume `json:"bootVolume,omitempty"`
	NICs          []NIC       `json:"nics,omitempty"`
}

type ServerStatus struct {
	Status  `json:",inline"`
	VMState string   `json:"vmState,omitempty"`
	Cores   int64    `json:"cores,omitempty"`
	RAM     int64    `json:"ram,omitempty"`
	IPs     []string `json:"ips,omitempty"`
}

type Server struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ServerSpec   `json:"spec,omitempty"`
	Status            ServerStatus `json:"status,omitempty"`
}

func (s *Server) status() *Status { return &s.Status.Status }

func (s *Server) DeepCopyObject() runtime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if s.Spec.BootVolume != nil {
		volume := *s.Spec.BootVolume
		out.Spec.BootVolume = &volume
	}
	out.Spec.NICs = append([]NIC(nil), s.Spec.NICs...)
	s.Status.Status.deepCopyInto(&out.Status.Status)
	out.Status.IPs = append([]string(nil), s.Status.IPs...)
	return &out
}

type ServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Server `json:"items"`
}

func (l *ServerList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Server, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Server)
	}
	return &out
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion, &Datacenter{}, &DatacenterList{}, &Server{}, &ServerList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}
